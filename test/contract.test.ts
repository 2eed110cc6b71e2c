import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { loadBlocks } from '../src/blocks/load-blocks.ts'
import { openTestQuoin, type TestQuoin } from './end-to-end/harness.ts'

/**
 * The contract's tables of endpoints and blocks, by which clients know us. What each row does is proven by the suites of
 * its room; here nothing may be missing, and nothing may answer with a fault.
 */
interface Contract {
  readonly endpoints: readonly string[]
  readonly blocks: readonly string[]
}

let room: TestQuoin
let contract: Contract
beforeAll(async () => {
  contract = JSON.parse(await readFile(new URL('contract.json', import.meta.url), 'utf8'))
  room = await openTestQuoin()
})
afterAll(() => room.close())

const isMethod = (text: string): text is 'GET' | 'POST' | 'PUT' | 'DELETE' =>
  ['GET', 'POST', 'PUT', 'DELETE'].includes(text)

test('every endpoint of the contract is there', async () => {
  const { body } = await room.send('GET', '/openapi.json')
  const described = JSON.stringify(body)
  expect(contract.endpoints).toHaveLength(29)
  const missing = contract.endpoints.filter((row) => {
    const [method = '', path = ''] = row.split(' ')
    const paths: { readonly paths: Record<string, Record<string, unknown>> } = JSON.parse(described)
    return !paths.paths[`/api/v1${path}`]?.[method.toLowerCase()]
  })
  expect(missing).toEqual([])
})

test('no endpoint of the contract lets a stranger in, or fails on an unknown guid', async () => {
  for (const row of contract.endpoints) {
    const [method = 'GET', path = ''] = row.split(' ')
    const url = `/api/v1${path.replace(/\{[a-z]+\}/g, '01890000-0000-7000-8000-000000000000')}`
    if (!isMethod(method)) throw new Error(`${method} is no method of the contract.`)
    const send = (headers: Record<string, string>) => room.quoin.server.app.inject({ method, url, headers })
    const stranger = await send({})
    const open = ['/info', '/auth/signin'].includes(path)
    expect([row, stranger.statusCode]).toEqual([row, path === '/info' ? 200 : open ? 400 : 401])
    const known = await send({ authorization: `Bearer ${await room.tokenOf('admin')}` })
    expect([row, known.statusCode < 500]).toEqual([row, true])
  }
})

test('every block of the contract is in the catalogue, but for pages, which are not built yet', async () => {
  const catalogue = await loadBlocks()
  expect(contract.blocks).toHaveLength(41)
  expect(contract.blocks.filter((identifier) => !catalogue.has(identifier))).toEqual([])
})
