import { Readable } from 'node:stream'
import { xlsxRows } from '../../../src/blocks/rows/xlsx-rows.ts'
import type { JsonObject, JsonValue } from '../../../src/shared/json.ts'
import { readEvents } from '../../event-reader.ts'
import { objectsOf } from '../harness.ts'
import { type DealsFixture, documents, MARGIN } from './deals-fixture.ts'
import { type Door, type DoorName, type Role, readsOnly } from './door.ts'
import { pageDoors } from './page-doors.ts'

export function doorsOf(fixture: DealsFixture): Readonly<Record<DoorName, Door>> {
  return { ...apiDoors(fixture), ...flowDoors(fixture), ...pageDoors(fixture) }
}

const numbersIn = (body: JsonValue | undefined): readonly number[] =>
  objectsOf(Array.isArray(body) ? body : [])
    .map(({ n }) => Number(n))
    .sort()
const hasMargin = (text: string) => text.includes(String(MARGIN))
const newDeal = (owner: string): JsonObject => ({ n: 16, title: 'new', owner })

function apiDoors(fixture: DealsFixture) {
  const search = (as: Role) => fixture.send('POST', `${documents}/search`, as, {})
  const status = async (...sent: Parameters<DealsFixture['send']>) => (await fixture.send(...sent)).status
  const load = async (as: Role, row: JsonObject) => {
    const headers = { ...(await fixture.header(as)), 'content-type': 'application/x-ndjson' }
    const url = `/api/v1${documents}/import`
    const payload = JSON.stringify(row)
    return (await fixture.quoin.quoin.server.app.inject({ method: 'POST', url, headers, payload })).statusCode
  }
  const noCreate = {
    see: 'It only writes.',
    hidden: 'It only writes.',
    change: 'It only creates.',
    remove: 'It only creates.',
  }
  return {
    'documents API': {
      see: async (as) => numbersIn((await search(as)).body),
      hidden: async (as) => hasMargin((await search(as)).text),
      create: (as, owner) => status('POST', documents, as, newDeal(owner)),
      set: (as) => status('POST', documents, as, { ...newDeal(fixture.user(as)), approved: 'yes' }),
      change: (as, n) => status('PUT', `${documents}/${fixture.deal(n)}`, as, { title: 'changed' }),
      remove: (as, n) => status('DELETE', `${documents}/${fixture.deal(n)}`, as),
    },
    imports: {
      ...noCreate,
      create: (as, owner) => load(as, newDeal(owner)),
      set: (as) => load(as, { ...newDeal(fixture.user(as)), approved: 'yes' }),
    },
    exports: {
      ...readsOnly,
      // The same in each format, or the test fails with a list that no role may see.
      see: async (as) => {
        const all = await Promise.all(
          ['ndjson', 'csv', 'xlsx'].map((format) => exported(fixture, format, as)),
        )
        const [first = []] = all.map(({ numbers }) => numbers)
        return all.every(({ numbers }) => String(numbers) === String(first)) ? first : [-1]
      },
      hidden: async (as) => {
        const all = await Promise.all(
          ['ndjson', 'csv', 'xlsx'].map((format) => exported(fixture, format, as)),
        )
        const [first = false] = all.map(({ text }) => hasMargin(text))
        if (all.some(({ text }) => hasMargin(text) !== first)) throw new Error('The formats differ.')
        return first
      },
    },
  } as const satisfies Partial<Record<DoorName, Door>>
}

async function exported(fixture: DealsFixture, format: string, as: Role) {
  const query = new URLSearchParams({ format, columns: '["n","margin"]' })
  const url = `/api/v1${documents}/export?${query}`
  const reply = await fixture.quoin.quoin.server.app.inject({ url, headers: await fixture.header(as) })
  if (reply.statusCode !== 200) return { numbers: [], text: '' }
  const rows = await rowsOf(format, reply.rawPayload)
  return { numbers: rows.map(([n]) => Number(n)).sort(), text: JSON.stringify(rows) }
}

async function rowsOf(format: string, file: Buffer): Promise<readonly (readonly unknown[])[]> {
  const read = (start: number, end: number) => Readable.from([file.subarray(start, end + 1)])
  if (format === 'xlsx')
    return (await Array.fromAsync(xlsxRows({ size: file.length, read }))).map(({ cells }) => cells).slice(1)
  const lines = file
    .toString()
    .split(/\r?\n/)
    .filter((line) => line !== '')
  if (format === 'csv') return lines.slice(1).map((line) => line.split(','))
  return lines.map((line) => JSON.parse(line)).map(({ n, margin }) => [n, margin])
}

function flowDoors(fixture: DealsFixture) {
  const status = async (...sent: Parameters<DealsFixture['send']>) => (await fixture.send(...sent)).status
  const watched = async (path: string, as: Role) => {
    const reader = await readEvents(`${fixture.origin}/api/v1${path}`, await fixture.header(as))
    const first = await reader.next()
    reader.close()
    return first?.data ?? ''
  }
  const live = (path: string): Door => ({
    ...readsOnly,
    see: async (as) => numbersIn(JSON.parse((await watched(path, as)) || '[]')),
    hidden: async (as) => hasMargin(await watched(path, as)),
  })
  return {
    'resource trigger': {
      see: async (as) => numbersIn((await fixture.send('GET', '/deals?order=n', as)).body),
      hidden: async (as) => hasMargin((await fixture.send('GET', '/deals', as)).text),
      create: (as, owner) => status('POST', '/deals', as, newDeal(owner)),
      set: (as) => status('POST', '/deals', as, { ...newDeal(fixture.user(as)), approved: 'yes' }),
      change: (as, n) => status('PUT', `/deals/${fixture.deal(n)}`, as, { title: 'changed' }),
      remove: (as, n) => status('DELETE', `/deals/${fixture.deal(n)}`, as),
    },
    'resource, live': live('/deals?order=n'),
    'blocks as the user': {
      see: async (as) => numbersIn((await fixture.send('GET', '/found', as)).body),
      hidden: async (as) => hasMargin((await fixture.send('GET', '/found', as)).text),
      create: (as, owner) => status('POST', '/made', as, newDeal(owner)),
      set: (as) => status('POST', '/made', as, { ...newDeal(fixture.user(as)), approved: 'yes' }),
      change: (as, n) => status('POST', `/changed/${fixture.deal(n)}`, as, { title: 'changed' }),
      remove: (as, n) => status('POST', `/gone/${fixture.deal(n)}`, as),
    },
    'live updates': live('/found'),
  } as const satisfies Partial<Record<DoorName, Door>>
}
