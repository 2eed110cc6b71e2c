/** Names of tables and columns of other programs as names of storages and fields. */
import { fieldNameProblem } from '../../shared/field-path.ts'
import { normalizedText } from '../../shared/texts/normalized-text.ts'
import { isOwnStorage, storageNameProblem } from '../../storage/system-storages.ts'

const LONGEST_STORAGE = 63
const LONGEST_FIELD = 100
/** Of a name that is printed. */
const LONGEST_SHOWN = 80

/** `Order Date` → `order_date`; empty where nothing is left. */
function plainName(text: string, most: number): string {
  return normalizedText(text.slice(0, 4 * most), 'NFKD')
    .replace(/\p{M}/gu, '')
    .replaceAll('ß', 'ss')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '_')
    .slice(0, most)
    .replace(/^_|_$/g, '')
}

/** Gives each name once: the second `name` is `name_2`. */
export function distinctNames(): (name: string) => string {
  const taken = new Set<string>()
  const next = new Map<string, number>()
  return (name) => {
    let free = name
    for (let at = next.get(name) ?? 2; taken.has(free); at++) {
      free = `${name}_${at}`
      next.set(name, at + 1)
    }
    taken.add(free)
    return free
  }
}

/** `place`: of the table in its source, from 1, for one whose name says nothing. */
export function storageNameFor(title: string, place: number): string {
  const name = plainName(title, LONGEST_STORAGE - 8)
    .replace(/[^a-z0-9_]+/g, '_')
    .replace(/^[_\d]+/, '')
  return storageNameProblem(name) || isOwnStorage(name) ? `table_${place}` : name
}

/** Names that a field can have stay; others are made of the letters and digits that they have. */
export function fieldNameFor(title: string, place: number): string {
  if (/^[A-Za-z][A-Za-z0-9_]{0,99}$/.test(title) && !fieldNameProblem(title)) return title
  const name = plainName(title, LONGEST_FIELD).replace(/^[\d_]+/, '')
  return name === '' || fieldNameProblem(name) ? `column_${place}` : name
}

/** For a terminal: what could steer it, or is not one line, is escaped. */
export function shownName(text: string): string {
  const short = text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}…` : text
  return short !== '' && /^[\p{L}\p{N}\p{P}\p{S} ]+$/u.test(short)
    ? short
    : JSON.stringify(short).replace(/[\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g, '?')
}
