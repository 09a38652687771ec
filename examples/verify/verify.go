// Checks the log of a service over HTTP with Go's packages for checksum databases, golang.org/x/mod/sumdb: all of its
// entries, and that it is the log that was asked for.
// usage: verify [-witness <key>]... <URL> <name of the log> <public key, base64> [<size> <root, base64>]
// The name of the log is like names.example/mainnet/1, or names.example/mainnet/evidence/1. Size and root are those of an
// older checkpoint. All witnesses must have signed the newest one. They sign the feed's log only.
package main

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// No tile, bundle or checkpoint is longer, and none takes longer.
const mostBytes = 4 << 20

var client = http.Client{Timeout: 20 * time.Second}

type server struct {
	prefix string
	known  map[string][]byte
}

func (s *server) get(path string) ([]byte, error) {
	if known, ok := s.known[path]; ok {
		return known, nil
	}
	response, err := client.Get(s.prefix + "/" + path)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, mostBytes))
	if err == nil && response.StatusCode != 200 {
		err = fmt.Errorf("%s: status %d: %s", path, response.StatusCode, body)
	}
	s.known[path] = body
	return body, err
}

func (s *server) Height() int { return 8 }

func (s *server) ReadTiles(tiles []tlog.Tile) ([][]byte, error) {
	var found [][]byte
	for _, tile := range tiles {
		// Go's path names the height of the tiles too
		body, err := s.get("tile/" + strings.TrimPrefix(tile.Path(), "tile/8/"))
		if err != nil {
			return nil, err
		}
		found = append(found, body)
	}
	return found, nil
}

func (s *server) SaveTiles([]tlog.Tile, [][]byte) {}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func hashOf(text string) (hash tlog.Hash) {
	bytes, err := base64.StdEncoding.DecodeString(text)
	check(err)
	copy(hash[:], bytes)
	return hash
}

// Entries of a bundle, each behind its length in 16 bits.
func entriesOf(bundle []byte) (entries [][]byte, err error) {
	for len(bundle) > 0 {
		if len(bundle) < 2 || len(bundle) < 2+int(binary.BigEndian.Uint16(bundle)) {
			return nil, fmt.Errorf("a bundle is cut")
		}
		end := 2 + int(binary.BigEndian.Uint16(bundle))
		entries = append(entries, bundle[2:end])
		bundle = bundle[end:]
	}
	return entries, nil
}

// A witness, whose signature has a time in front (C2SP tlog-cosignature, Ed25519).
type witness struct {
	name string
	hash uint32
	key  ed25519.PublicKey
}

func (w witness) Name() string    { return w.name }
func (w witness) KeyHash() uint32 { return w.hash }
func (w witness) Verify(text, signature []byte) bool {
	if len(signature) != 8+ed25519.SignatureSize {
		return false
	}
	signed := fmt.Sprintf("cosignature/v1\ntime %d\n%s", binary.BigEndian.Uint64(signature), text)
	return ed25519.Verify(w.key, []byte(signed), signature[8:])
}

// Keys of witnesses, <name>+<id>+<base64 of type 4 and key>.
type witnesses []note.Verifier

func (all *witnesses) String() string { return "" }
func (all *witnesses) Set(text string) error {
	parts := strings.SplitN(text, "+", 3)
	if len(parts) < 3 {
		return fmt.Errorf("a witness's key is like w.example+1a2b3c4d+B..., not %q", text)
	}
	key, err := base64.StdEncoding.DecodeString(parts[2])
	if err != nil || len(key) != 1+ed25519.PublicKeySize || key[0] != 4 {
		return fmt.Errorf("%q is no Ed25519 key of a witness", text)
	}
	id := sha256.Sum256(append([]byte(parts[0]+"\n"), key...))
	*all = append(*all, witness{parts[0], binary.BigEndian.Uint32(id[:]), key[1:]})
	return nil
}

func main() {
	var required witnesses
	flag.Var(&required, "witness", "key of a witness")
	flag.Parse()
	args := flag.Args()
	if len(args) < 3 {
		check(fmt.Errorf("usage: verify [-witness <key>]... <URL> <name of the log> <public key> [<size> <root>]"))
	}
	origin := args[1]
	_, place, _ := strings.Cut(origin, "/")
	if !strings.Contains(place, "/") {
		check(fmt.Errorf("the name of a log is like names.example/mainnet/1, not %q", origin))
	}
	prefix := args[0] + "/v1/log/" + place
	log := &server{prefix, map[string][]byte{}}
	signed, err := log.get("checkpoint")
	check(err)
	public, err := base64.StdEncoding.DecodeString(args[2])
	check(err)
	key, err := note.NewEd25519VerifierKey(origin, public)
	check(err)
	verifier, err := note.NewVerifier(key)
	check(err)
	opened, err := note.Open(signed, note.VerifierList(append(required, verifier)...))
	check(err)
	if len(opened.Sigs) != 1+len(required) {
		check(fmt.Errorf("%d signatures count, and %d are required", len(opened.Sigs), 1+len(required)))
	}
	lines := strings.Split(opened.Text, "\n")
	if len(lines) < 4 || lines[0] != origin {
		check(fmt.Errorf("the checkpoint is not one of %s", origin))
	}
	size, err := strconv.ParseInt(lines[1], 10, 64)
	check(err)
	if size < 0 {
		check(fmt.Errorf("the checkpoint has %d entries", size))
	}
	root := hashOf(lines[2])
	reader := tlog.TileHashReader(tlog.Tree{N: size, Hash: root}, log)
	proved := int64(0)
	for first := int64(0); first < size; first += 256 {
		path := tlog.Tile{H: 8, L: 0, N: first / 256, W: 256}
		if size-first < 256 {
			path.W = int(size - first)
		}
		bundle, err := log.get("tile/entries/" + strings.TrimPrefix(path.Path(), "tile/8/0/"))
		check(err)
		entries, err := entriesOf(bundle)
		check(err)
		if len(entries) != path.W {
			check(fmt.Errorf("bundle %d has %d entries, not %d", path.N, len(entries), path.W))
		}
		for i, entry := range entries {
			n := first + int64(i)
			proof, err := tlog.ProveRecord(size, n, reader)
			check(err)
			check(tlog.CheckRecord(proof, size, root, n, tlog.RecordHash(entry)))
			if tlog.CheckRecord(proof, size, root, n, tlog.RecordHash(append([]byte(" "), entry...))) == nil {
				check(fmt.Errorf("an altered entry %d was proved", n))
			}
			proved++
		}
	}
	if len(args) > 4 {
		old, err := strconv.ParseInt(args[3], 10, 64)
		check(err)
		proof, err := tlog.ProveTree(size, old, reader)
		check(err)
		check(tlog.CheckTree(proof, size, root, old, hashOf(args[4])))
	}
	if proved != size {
		check(fmt.Errorf("%d of %d entries were proved", proved, size))
	}
	fmt.Printf("%s: %d of %d entries proved\n", origin, proved, size)
}
