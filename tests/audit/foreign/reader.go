// Reads an export of a Citewell log with the code that checks Go's own module log: golang.org/x/mod/sumdb.
//
// In: the export's folder, the published key, and perhaps an older checkpoint and a file of inclusion proofs
// made by `citewell audit prove --json`, one a line. Out: a line for each thing that held. Ends with 1 and the
// reason at the first that did not. Nothing here is Citewell's but where the files lie.
package main

import (
	"bufio"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

const height = 8

// tiles reads C2SP tlog-tiles: Go's paths without the height.
type tiles struct{ folder string }

func (t tiles) Height() int                     { return height }
func (t tiles) SaveTiles([]tlog.Tile, [][]byte) {}
func (t tiles) ReadTiles(all []tlog.Tile) ([][]byte, error) {
	var found [][]byte
	for _, tile := range all {
		path := strings.Replace(tile.Path(), fmt.Sprintf("tile/%d/", height), "tile/", 1)
		data, err := os.ReadFile(filepath.Join(t.folder, path))
		if err != nil {
			return nil, err
		}
		found = append(found, data)
	}
	return found, nil
}

func must(err error, what string) {
	if err != nil {
		log.Fatalf("%s: %v", what, err)
	}
}

func open(path string, known note.Verifiers) tlog.Tree {
	text, err := os.ReadFile(path)
	must(err, "checkpoint")
	signed, err := note.Open(text, known)
	must(err, "signature")
	lines := strings.Split(signed.Text, "\n")
	if len(lines) < 3 || len(signed.Sigs) == 0 || lines[0] != signed.Sigs[0].Name {
		log.Fatalf("checkpoint: %q", signed.Text)
	}
	size, err := strconv.ParseInt(lines[1], 10, 64)
	must(err, "size")
	root, err := tlog.ParseHash(lines[2])
	must(err, "root")
	return tlog.Tree{N: size, Hash: root}
}

// leaves gives every entry of the bundles, in order.
func leaves(folder string, size int64) [][]byte {
	var found [][]byte
	for first := int64(0); first < size; first += 256 {
		width := size - first
		if width > 256 {
			width = 256
		}
		tile := tlog.Tile{H: height, L: -1, N: first / 256, W: int(width)}
		path := strings.Replace(tile.Path(), fmt.Sprintf("tile/%d/data/", height), "tile/entries/", 1)
		data, err := os.ReadFile(filepath.Join(folder, path))
		must(err, "bundle")
		for len(data) > 0 {
			length := int(binary.BigEndian.Uint16(data))
			found = append(found, data[2:2+length])
			data = data[2+length:]
		}
	}
	if int64(len(found)) != size {
		log.Fatalf("bundles hold %d entries of %d", len(found), size)
	}
	return found
}

// made is what `citewell audit prove --json` prints, of a record or since a checkpoint.
type made struct {
	Leaf   string   `json:"leaf"`
	Index  int64    `json:"index"`
	Old    int64    `json:"old_size"`
	Size   int64    `json:"size"`
	Hashes []string `json:"hashes"`
}

func decoded(texts []string) []tlog.Hash {
	var found []tlog.Hash
	for _, text := range texts {
		raw, err := base64.StdEncoding.DecodeString(text)
		must(err, "proof")
		var hash tlog.Hash
		if copy(hash[:], raw) != tlog.HashSize {
			log.Fatal("proof: a hash of another length")
		}
		found = append(found, hash)
	}
	return found
}

func checkMade(path string, tree tlog.Tree) int {
	file, err := os.Open(path)
	must(err, "proofs")
	lines := bufio.NewScanner(file)
	count := 0
	for lines.Scan() {
		var one made
		must(json.Unmarshal(lines.Bytes(), &one), "proof")
		if one.Size != tree.N {
			log.Fatalf("proof: of a tree of %d", one.Size)
		}
		must(tlog.CheckRecord(decoded(one.Hashes), tree.N, tree.Hash, one.Index, tlog.RecordHash([]byte(one.Leaf))), "proof")
		count++
	}
	return count
}

func main() {
	log.SetFlags(0)
	folder := flag.String("log", "", "the export")
	key := flag.String("key", "", "file of verifier keys, one a line")
	older := flag.String("older", "", "a checkpoint kept from before")
	proofs := flag.String("proofs", "", "inclusion proofs, a line each")
	growth := flag.String("growth", "", "a consistency proof since the older checkpoint")
	flag.Parse()

	published, err := os.ReadFile(*key)
	must(err, "key")
	var verifiers []note.Verifier
	for _, line := range strings.Split(string(published), "\n") {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		// After a retired key stands up to what size it counts.
		verifier, err := note.NewVerifier(words[0])
		must(err, "key")
		verifiers = append(verifiers, verifier)
	}
	known := note.VerifierList(verifiers...)

	tree := open(filepath.Join(*folder, "checkpoint"), known)
	fmt.Println("signature", tree.N)

	// A reader that believes no tile that does not lead to the signed root.
	hashes := tlog.TileHashReader(tree, tiles{*folder})
	for index, leaf := range leaves(*folder, tree.N) {
		proof, err := tlog.ProveRecord(tree.N, int64(index), hashes)
		must(err, "tiles")
		must(tlog.CheckRecord(proof, tree.N, tree.Hash, int64(index), tlog.RecordHash(leaf)), "inclusion")
	}
	fmt.Println("inclusion", tree.N)

	if *proofs != "" {
		fmt.Println("proofs", checkMade(*proofs, tree))
	}
	if *older != "" {
		before := open(*older, known)
		proof, err := tlog.ProveTree(tree.N, before.N, hashes)
		must(err, "tiles")
		must(tlog.CheckTree(proof, tree.N, tree.Hash, before.N, before.Hash), "consistency")
		fmt.Println("consistency", before.N)
		if *growth != "" {
			data, err := os.ReadFile(*growth)
			must(err, "growth")
			var one made
			must(json.Unmarshal(data, &one), "growth")
			must(tlog.CheckTree(decoded(one.Hashes), one.Size, tree.Hash, one.Old, before.Hash), "growth")
			fmt.Println("growth", one.Old)
		}
	}
}
