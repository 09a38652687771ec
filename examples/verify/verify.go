// Checks the log of a service over HTTP with Go's packages for checksum databases, golang.org/x/mod/sumdb.
// usage: verify <prefix of the log> <public key, base64> [<size> <root, base64> of an older checkpoint]
package main

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

type server struct {
	prefix string
	known  map[string][]byte
}

func (s *server) get(path string) ([]byte, error) {
	if known, ok := s.known[path]; ok {
		return known, nil
	}
	response, err := http.Get(s.prefix + "/" + path)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
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

func main() {
	log := &server{os.Args[1], map[string][]byte{}}
	signed, err := log.get("checkpoint")
	check(err)
	public, err := base64.StdEncoding.DecodeString(os.Args[2])
	check(err)
	// the log signs under its own name, the first line of its checkpoint
	origin, _, _ := strings.Cut(string(signed), "\n")
	key, err := note.NewEd25519VerifierKey(origin, public)
	check(err)
	verifier, err := note.NewVerifier(key)
	check(err)
	opened, err := note.Open(signed, note.VerifierList(verifier))
	check(err)
	lines := strings.Split(opened.Text, "\n")
	size, err := strconv.ParseInt(lines[1], 10, 64)
	check(err)
	root := hashOf(lines[2])
	reader := tlog.TileHashReader(tlog.Tree{N: size, Hash: root}, log)
	proved := 0
	for first := int64(0); first < size; first += 256 {
		path := tlog.Tile{H: 8, L: 0, N: first / 256, W: 256}
		if size-first < 256 {
			path.W = int(size - first)
		}
		bundle, err := log.get("tile/entries/" + strings.TrimPrefix(path.Path(), "tile/8/0/"))
		check(err)
		for n := first; len(bundle) > 0; n++ {
			length := int(binary.BigEndian.Uint16(bundle))
			entry := bundle[2 : 2+length]
			bundle = bundle[2+length:]
			proof, err := tlog.ProveRecord(size, n, reader)
			check(err)
			check(tlog.CheckRecord(proof, size, root, n, tlog.RecordHash(entry)))
			if tlog.CheckRecord(proof, size, root, n, tlog.RecordHash(append([]byte(" "), entry...))) == nil {
				check(fmt.Errorf("an altered entry %d was proved", n))
			}
			proved++
		}
	}
	if len(os.Args) > 4 {
		old, err := strconv.ParseInt(os.Args[3], 10, 64)
		check(err)
		proof, err := tlog.ProveTree(size, old, reader)
		check(err)
		check(tlog.CheckTree(proof, size, root, old, hashOf(os.Args[4])))
	}
	fmt.Printf("%s: %d of %d entries proved\n", lines[0], proved, size)
}
