/** What a fuzzer has learnt from replies: guids, names and words, so that its requests also find something. */
import { isJsonObject, type JsonValue } from '../../../src/shared/json.ts'
import type { RandomSource } from '../random-source.ts'

export interface KnownThings {
  /** From a reply to that path. `isKept` guids are never learnt: what they name must outlive the fuzzer. */
  learn(path: string, value: JsonValue | undefined): void
  /** A guid; if there are some, one that came from a path with the same first segment. */
  guid(path: string, random: RandomSource): string
  word(random: RandomSource): string
}

const MOST = 400
const MOST_VALUES = 2_000
const isGuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

export function knownThings(kept: ReadonlySet<string>): KnownThings {
  const guids = new Map<string, Set<string>>()
  const words = new Set<string>([
    'title',
    'status',
    'open',
    'tasks',
    '*loggedin',
    '_meta.created',
    'asc',
    '10',
    '1d',
    '2026-02-28',
    '2026-02-28T09:00:00+02:00',
    'ÅSA',
    'å',
    'api.example.com:443',
    'doc.end >= doc.start',
    "let a = text(doc.title); contains(lower(a), 'x')",
  ])

  function learnText(kind: string, text: string): void {
    if (!isGuid.test(text)) {
      if (text !== '' && text.length <= 60) add(words, text)
      return
    }
    if (kept.has(text)) return
    const own = guids.get(kind) ?? new Set()
    guids.set(kind, own)
    add(own, text)
  }

  return {
    learn(path, value) {
      const kind = kindOf(path)
      let left = MOST_VALUES
      const look = (inner: JsonValue): void => {
        if (left-- < 0) return
        if (typeof inner === 'string') learnText(kind, inner)
        else if (Array.isArray(inner)) for (const item of inner) look(item)
        else if (isJsonObject(inner))
          for (const [name, item] of Object.entries(inner)) {
            // A secret is no word that others may hear.
            if (name === 'access_token') continue
            if (name.length <= 60) add(words, name)
            look(item)
          }
      }
      if (value !== undefined) look(value)
    },
    guid(path, random) {
      const own = guids.get(kindOf(path))
      const all = own && random.chance(0.8) ? [...own] : [...guids.values()].flatMap((some) => [...some])
      return all.length === 0 ? '0190a6e0-0000-7000-8000-000000000000' : random.oneOf(all)
    },
    word: (random) => random.oneOf([...words]),
  }
}

const kindOf = (path: string): string => path.replace(/^\/api\/v1\/(?:_system\/)?/, '').split(/[/?]/)[0] ?? ''

/** The oldest goes when there are too many. */
function add(set: Set<string>, text: string): void {
  set.delete(text)
  set.add(text)
  if (set.size > MOST) for (const oldest of [...set].slice(0, set.size - MOST)) set.delete(oldest)
}
