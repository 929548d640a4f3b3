package orrery

import (
	"encoding/json"
	"os"
	"testing"
	"time"
)

const vectorsFile = "../../test/tokens/vectors.json"

type vector struct {
	Name, Token string
	Claims      Claims
}

var vectors struct {
	Pinned
	Now            time.Time
	Valid, Invalid []vector
}

func TestMain(m *testing.M) {
	text, err := os.ReadFile(vectorsFile)
	if err == nil {
		err = json.Unmarshal(text, &vectors)
	}
	if err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

func expectedOf(kind string) Expected {
	return Expected{
		LicenseKey: "7K3QD-9WZXA-M2RTB-H5NVE-40GPC", Fingerprint: "machine-0123456789", Product: "orrery", Kind: kind,
	}
}

func TestAcceptsEveryGoodToken(t *testing.T) {
	for _, vector := range vectors.Valid {
		expected := expectedOf(vector.Claims.Kind)
		expected.Product = vector.Claims.Product
		claims, err := ReadToken(vector.Token, vectors.Pinned, expected, vectors.Now)
		if err != nil || claims.Code != vector.Claims.Code || claims.Valid != vector.Claims.Valid {
			t.Errorf("%s: %v %v", vector.Name, claims, err)
		}
	}
}

func TestRejectsEveryBadToken(t *testing.T) {
	for _, vector := range vectors.Invalid {
		if _, err := ReadToken(vector.Token, vectors.Pinned, expectedOf("online"), vectors.Now); err == nil {
			t.Errorf("%s: accepted", vector.Name)
		}
	}
}

func TestRejectsAGoodTokenForSomethingElse(t *testing.T) {
	changes := map[string]func(*Expected, *time.Time){
		"license": func(e *Expected, _ *time.Time) { e.LicenseKey = "AAAAA-AAAAA-AAAAA-AAAAA-AAAAA" },
		"machine": func(e *Expected, _ *time.Time) { e.Fingerprint = "machine-9876543210" },
		"product": func(e *Expected, _ *time.Time) { e.Product = "other" },
		"call":    func(e *Expected, _ *time.Time) { e.Nonce = "another-nonce" },
		"kind":    func(e *Expected, _ *time.Time) { e.Kind = "offline" },
		"later":   func(_ *Expected, now *time.Time) { *now = now.AddDate(0, 0, 15) },
		"earlier": func(_ *Expected, now *time.Time) { *now = now.AddDate(0, 0, -1) },
	}
	for name, change := range changes {
		expected, now := expectedOf("online"), vectors.Now
		change(&expected, &now)
		if _, err := ReadToken(vectors.Valid[0].Token, vectors.Pinned, expected, now); err == nil {
			t.Errorf("another %s: accepted", name)
		}
	}
}
