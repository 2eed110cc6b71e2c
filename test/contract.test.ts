/**
 * The contract by which clients know us, row by row: each row of contract.json is proven by the scenario of its id, in
 * test/contract. Here nothing may be missing or too much, and nothing may answer with a fault.
 */
import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { loadBlocks } from '../src/blocks/load-blocks.ts'
import { contractRows, partOf, parts } from './contract/contract-rows.ts'
import { findScenarios, mismatches } from './contract/find-scenarios.ts'
import { openTestQuoin, type TestQuoin } from './end-to-end/harness.ts'

const rows = await contractRows()
const found = await findScenarios()
const endpoints = rows.filter(({ table }) => table === 'endpoints').map(({ id }) => id)
const blocks = rows.filter(({ table }) => table === 'blocks')

describe('the list of rows', () => {
  test('each has its one scenario, and each scenario its row', () => {
    expect(mismatches(rows, found)).toEqual([])
    expect(new Set(found.map(({ scenario }) => scenario)).size, 'no scenario counts twice').toBe(found.length)
  })

  test('control: a row without a scenario is seen, and so is what is there twice or for nothing', () => {
    const { id = '', table = '' } = rows[0] ?? {}
    const others = found.filter((one) => one.id !== id)
    expect(mismatches(rows, others)).toEqual([`${table}: ${id} has no scenario`])
    expect(mismatches(rows, [...found, { id, file: 'x.ts' }])).toHaveLength(1)
    expect(mismatches(rows, [...found, { id: 'nothing', file: 'x.ts' }])).toEqual([
      'nothing in x.ts is no row',
    ])
    expect(mismatches([...rows, { table, id, promise: '' }], found)).toHaveLength(1)
  })

  test('holds every endpoint and block of the contract', () => {
    expect([endpoints.length, blocks.length]).toEqual([29, 49])
  })

  test('each row is walked by one test file', async () => {
    expect(new Set(rows.map(partOf))).toEqual(new Set(parts))
    for (const part of parts) {
      const file = new URL(`contract/${part}.test.ts`, import.meta.url)
      expect(await readFile(file, 'utf8')).toContain(`await proveRows('${part}')`)
    }
  })
})

describe('all endpoints', () => {
  let fixture: TestQuoin
  beforeAll(async () => {
    fixture = await openTestQuoin()
    await fixture.addUser('leaver', [])
  })
  afterAll(() => fixture.close())

  test('are described', async () => {
    const { text } = await fixture.send('GET', '/openapi.json')
    const { paths }: { readonly paths: Record<string, Record<string, unknown>> } = JSON.parse(text)
    const missing = endpoints.filter((row) => {
      const [method = '', path = ''] = row.split(' ')
      return !paths[`/api/v1${path}`]?.[method.toLowerCase()]
    })
    expect(missing).toEqual([])
  })

  const isMethod = (text: string): text is 'GET' | 'POST' | 'PUT' | 'DELETE' =>
    ['GET', 'POST', 'PUT', 'DELETE'].includes(text)

  test.each(endpoints)('%s lets no stranger in, and an unknown guid is no fault', async (row) => {
    const [method = 'GET', path = ''] = row.split(' ')
    const url = `/api/v1${path.replace(/\{[a-z]+\}/g, '01890000-0000-7000-8000-000000000000')}`
    if (!isMethod(method)) throw new Error(`${method} is no method of the contract.`)
    const send = (headers: Record<string, string>) =>
      fixture.quoin.server.app.inject({ method, url, headers })
    const stranger = await send({})
    const open = ['/info', '/auth/signin'].includes(path)
    expect(stranger.statusCode).toBe(path === '/info' ? 200 : open ? 400 : 401)
    // After the sign-out the caller is anonymous in the following rows.
    const who = path === '/auth/signout' ? 'leaver' : 'admin'
    const known = await send({ authorization: `Bearer ${await fixture.tokenOf(who)}` })
    expect(known.statusCode).toBeLessThan(500)
    expect([401, 403]).not.toContain(known.statusCode)
  })
})

test('every block of the contract is in the catalogue', async () => {
  const catalogue = await loadBlocks()
  expect(blocks.filter(({ id }) => !catalogue.has(id))).toEqual([])
})
