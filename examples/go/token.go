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
)

// Pinned is the output of `latchkey keys pull`.
type Pinned struct {
	Account string `json:"account"`
	Keys    []struct{ Kid, X string }
}

// Expected is what a token has to be for. An empty Nonce is for a stored token.
type Expected struct{ LicenseKey, Fingerprint, Product, Nonce, Kind string }

// Claims are the claims that an application needs.
type Claims struct {
	Aud, Kind, Code, Product, Lk string
	Fp, Nonce                    *string
	Iat, Exp                     int64
	Valid                        bool
	Ent                          map[string]any
}

const leeway = int64(60)

var b64 = base64.RawURLEncoding

func digest(text string, length int) string {
	sum := sha256.Sum256([]byte(text))
	return b64.EncodeToString(sum[:length])
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

// ReadToken returns the claims of a good token, and an error for any other.
func ReadToken(token string, pinned Pinned, expected Expected, now time.Time) (claims Claims, err error) {
	parts := strings.Split(token, ".")
	var header struct{ Alg, Typ, Kid string }
	if len(parts) != 3 || decode(parts[0], &header) != nil || header.Alg != "EdDSA" || header.Typ != "latchkey+jwt" {
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
	case claims.Lk != digest(expected.LicenseKey, 16):
		return claims, errors.New("another license")
	case claims.Fp != nil && *claims.Fp != digest(expected.Fingerprint, sha256.Size):
		return claims, errors.New("another machine")
	case claims.Product != expected.Product || claims.Kind != expected.Kind:
		return claims, errors.New("another product, or a token of the other kind")
	case !isFresh || claims.Exp < now.Unix()-leeway:
		return claims, errors.New("not fresh, or ended")
	}
	return claims, nil
}
