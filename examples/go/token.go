// Package orrery checks a token of Latchkey with Go's own crypto/ed25519.
package orrery

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"time"
	"unicode"
)

// Pinned is the output of `npm run latchkey -- keys pull`.
type Pinned struct {
	Account string `json:"account"`
	Keys    []struct{ Kid, X string }
}

// Expected is what a token has to be for. An empty Nonce is for a stored token, and an empty Product for any product.
type Expected struct{ LicenseKey, Fingerprint, Product, Nonce, Kind string }

// Claims are the claims that an application needs.
type Claims struct {
	Aud, Kind, Code, Product, Lk string
	Fp, Nonce                    *string
	Iat, Exp                     int64
	Valid                        bool
	Ent                          map[string]any
}

// Clocks may differ by as much. The end of a token counts to the second.
const leeway = int64(300)

var b64 = base64.RawURLEncoding

func digest(text string, length int) string {
	sum := sha256.Sum256([]byte(text))
	return b64.EncodeToString(sum[:length])
}

// plain drops hyphens and white space, and takes the letters that look like digits for digits.
func plain(typed string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '-' || unicode.IsSpace(r):
			return -1
		case r == 'O':
			return '0'
		case r == 'I' || r == 'L':
			return '1'
		}
		return r
	}, strings.ToUpper(typed))
}

// spellings returns the license key as it was typed and, if it is a generated one, as Latchkey stores it.
func spellings(typed string) []string {
	var groups []string
	rest := plain(typed)
	for len(rest) > 5 {
		groups, rest = append(groups, rest[:5]), rest[5:]
	}
	return []string{typed, strings.Join(append(groups, rest), "-")}
}

func isOfKey(lk, licenseKey string) bool {
	for _, key := range spellings(licenseKey) {
		if lk == digest(key, 16) {
			return true
		}
	}
	return false
}

// decode reads a part of a token as JSON into value.
func decode(part string, value any) error {
	text, err := b64.DecodeString(part)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, value)
}

func isSigned(pinned Pinned, kid, text, signature string) bool {
	sig, err := b64.DecodeString(signature)
	for _, key := range pinned.Keys {
		x, keyErr := b64.DecodeString(key.X)
		if key.Kid == kid && err == nil && keyErr == nil && len(x) == ed25519.PublicKeySize {
			return ed25519.Verify(x, []byte(text), sig)
		}
	}
	return false
}

// ReadToken returns the claims of a good token, and an error for any other. Look at Valid first.
func ReadToken(token string, pinned Pinned, expected Expected, now time.Time) (claims Claims, err error) {
	parts := strings.Split(token, ".")
	var header struct {
		Alg, Typ, Kid string
		Crit          any
	}
	isToken := len(parts) == 3 && decode(parts[0], &header) == nil && header.Typ == "latchkey+jwt"
	if !isToken || header.Alg != "EdDSA" || header.Crit != nil {
		return claims, errors.New("not a token")
	}
	if !isSigned(pinned, header.Kid, parts[0]+"."+parts[1], parts[2]) {
		return claims, errors.New("not signed by a pinned key")
	}
	if err = decode(parts[1], &claims); err != nil {
		return claims, err
	}
	isFresh := claims.Iat <= now.Unix()+leeway
	if expected.Nonce != "" {
		isFresh = claims.Nonce != nil && *claims.Nonce == expected.Nonce
	}
	switch {
	case claims.Aud != pinned.Account:
		return claims, errors.New("another account")
	case !isOfKey(claims.Lk, expected.LicenseKey):
		return claims, errors.New("another license")
	case claims.Fp != nil && *claims.Fp != digest(expected.Fingerprint, sha256.Size):
		return claims, errors.New("another machine")
	case claims.Kind != expected.Kind:
		return claims, errors.New("a token of the other kind")
	// A signed no may be about no product at all. It is a verdict, and no missing answer.
	case claims.Valid && expected.Product != "" && claims.Product != expected.Product:
		return claims, errors.New("another product")
	// A nonce proves that an answer is fresh, whatever the clock says.
	case !isFresh || expected.Nonce == "" && claims.Exp <= now.Unix():
		return claims, errors.New("not fresh, or ended")
	}
	if !claims.Valid {
		claims.Ent = nil
	}
	return claims, nil
}
