package orrery

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"
)

const folder = "../../conformance/"

// application is what a token of the conformance files has to be for.
type application struct {
	LicenseKey                  string `json:"license_key"`
	ReleaseDate                 string `json:"release_date"`
	Fingerprint, Product, Nonce string
	Kind                        string
	Now                         time.Time
}

func (a application) expected() Expected {
	return Expected{LicenseKey: a.LicenseKey, Fingerprint: a.Fingerprint, Product: a.Product, Nonce: a.Nonce, Kind: a.Kind}
}

func read(t *testing.T, name string, value any) {
	t.Helper()
	text, err := os.ReadFile(folder + name)
	if err == nil {
		err = json.Unmarshal(text, value)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// with returns the application with the fields that a case changes. Null means none.
func (a application) with(t *testing.T, changes map[string]any) application {
	t.Helper()
	for name, value := range changes {
		if value == nil {
			changes[name] = ""
		}
	}
	text, err := json.Marshal(changes)
	if err == nil {
		err = json.Unmarshal(text, &a)
	}
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestTokens(t *testing.T) {
	var file struct {
		Pinned
		Expected application
		Cases    []struct {
			Check, Name, Result, Code, Token string
			Expected                         map[string]any
		}
	}
	read(t, "tokens.json", &file)
	for _, c := range file.Cases {
		expected := file.Expected.with(t, c.Expected)
		claims, err := ReadToken(c.Token, file.Pinned, expected.expected(), expected.Now)
		if c.Result == "good" && (err != nil || claims.Code != c.Code || claims.Valid == (claims.Ent == nil)) {
			t.Errorf("%s: %s: %v %v", c.Check, c.Name, claims, err)
		}
		if c.Result != "good" && err == nil {
			t.Errorf("%s: %s: accepted", c.Check, c.Name)
		}
	}
}

func TestOfflineFiles(t *testing.T) {
	var file struct {
		Pinned
		Now         time.Time
		Application application
		Cases       []struct {
			Name, Code, Text string
			Application      map[string]any
			Now              *time.Time
		}
	}
	read(t, "offline-files.json", &file)
	for _, c := range file.Cases {
		a := file.Application.with(t, c.Application)
		// This example knows no release dates.
		if a.ReleaseDate != "" {
			continue
		}
		a.LicenseKey, a.Kind, a.Now = "7K3QD-9WZXA-M2RTB-H5NVE-40GPW", "offline", file.Now
		if c.Now != nil {
			a.Now = *c.Now
		}
		text := strings.Join(strings.Fields(c.Text), "")
		if _, err := ReadToken(text, file.Pinned, a.expected(), a.Now); (err == nil) != (c.Code == "valid") {
			t.Errorf("%s: %v", c.Name, err)
		}
	}
}

func TestKeySpellings(t *testing.T) {
	var file struct {
		Cases []struct {
			Stored, Lk    string
			Typed, Others []string
		}
	}
	read(t, "key-spellings.json", &file)
	for _, c := range file.Cases {
		for _, text := range append(c.Typed, c.Stored) {
			if !isOfKey(c.Lk, text) {
				t.Errorf("%q is not %s", text, c.Stored)
			}
		}
		for _, text := range c.Others {
			if isOfKey(c.Lk, text) {
				t.Errorf("%q is %s", text, c.Stored)
			}
		}
	}
}

func TestClaimsOfFingerprints(t *testing.T) {
	var file struct {
		Claims []struct{ Fingerprint, Fp string }
	}
	read(t, "fingerprints.json", &file)
	for _, c := range file.Claims {
		if digest(c.Fingerprint, 32) != c.Fp {
			t.Errorf("%s: %s", c.Fingerprint, digest(c.Fingerprint, 32))
		}
	}
}
