package cache

import (
	"container/list"
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"
)

// Memory is a cache in the memory of this process.
type Memory struct {
	o Options

	mu      sync.Mutex
	entries map[entryKey]*list.Element
	used    *list.List // of *memoryEntry, the most recently used first
	bytes   int64      // of all values
	counts  map[Kind]KindStats
}

// entryKey identifies an entry.
type entryKey struct {
	kind Kind
	key  string
}

// memoryEntry is an element of the list of entries.
type memoryEntry struct {
	entryKey
	value json.RawMessage
	made  time.Time
	ttl   time.Duration // when it was made; a shorter ttl of the options applies as well
}

// NewMemory returns an empty cache.
func NewMemory(o Options) *Memory {
	m := &Memory{o: o.withDefaults()}
	m.reset()

	return m
}

// reset removes all entries and counts. The caller holds the lock.
func (m *Memory) reset() {
	m.entries, m.used, m.bytes, m.counts = map[entryKey]*list.Element{}, list.New(), 0, map[Kind]KindStats{}
}

// Get implements Cache.
func (m *Memory) Get(_ context.Context, kind Kind, key string) (json.RawMessage, bool, error) {
	if err := checkKey(kind, key); err != nil {
		return nil, false, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	outcome := miss

	defer func() {
		s := m.counts[kind]
		s.count(outcome)
		m.counts[kind] = s
	}()

	element, ok := m.entries[entryKey{kind, key}]
	if !ok {
		return nil, false, nil
	}

	e := element.Value.(*memoryEntry)
	if !m.o.isFresh(kind, e.made, e.ttl, m.o.Now()) {
		outcome = expired
		m.remove(element)

		return nil, false, nil
	}
	outcome = hit
	m.used.MoveToFront(element)

	return slices.Clone(e.value), true, nil
}

// Put implements Cache.
func (m *Memory) Put(_ context.Context, kind Kind, key string, value json.RawMessage) error {
	if err := checkKey(kind, key); err != nil {
		return err
	}

	if err := checkValue(value); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()

	at := entryKey{kind, key}
	if element, ok := m.entries[at]; ok {
		m.remove(element)
	}
	m.entries[at] = m.used.PushFront(&memoryEntry{at, slices.Clone(value), m.o.Now(), m.o.ttl(kind)})

	m.bytes += int64(len(value))
	for m.o.exceedsCap(len(m.entries), m.bytes) {
		m.remove(m.used.Back())
	}

	return nil
}

// remove removes an entry. The caller holds the lock.
func (m *Memory) remove(element *list.Element) {
	e := element.Value.(*memoryEntry)
	m.used.Remove(element)
	delete(m.entries, e.entryKey)
	m.bytes -= int64(len(e.value))
}

// Stats implements Cache.
func (m *Memory) Stats(context.Context) (Stats, error) {
	m.mu.Lock()
	defer m.mu.Unlock()

	kinds := map[Kind]KindStats{}
	for _, k := range Kinds() {
		kinds[k] = m.counts[k]
	}

	for element := m.used.Front(); element != nil; element = element.Next() {
		e := element.Value.(*memoryEntry)
		s := kinds[e.kind]
		s.Entries++
		s.Bytes += int64(len(e.value))
		kinds[e.kind] = s
	}

	return newStats("memory", "", kinds), nil
}

// Clean implements Cache.
func (m *Memory) Clean(context.Context) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()

	now, removed := m.o.Now(), 0
	for _, element := range m.entries {
		if e := element.Value.(*memoryEntry); !m.o.isFresh(e.kind, e.made, e.ttl, now) {
			m.remove(element)
			removed++
		}
	}

	return removed, nil
}

// Clear implements Cache.
func (m *Memory) Clear(context.Context) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.reset()

	return nil
}

// Close implements Cache.
func (m *Memory) Close() error { return nil }
