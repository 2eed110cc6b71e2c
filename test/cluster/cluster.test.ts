/** The short form of the proof, with half the load; `npm run prove` is the long one. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { adminPassword, objectOf, type RunningProcess, startProcess } from '../end-to-end/harness.ts'
import { startLocalServer } from '../local-server.ts'
import { callNode } from './call-node.ts'
import { faultKinds } from './faults.ts'
import { installOver } from './install-over.ts'
import { type StormFigures, storm } from './storm.ts'
import { switchBlueprint } from './storm-blueprints.ts'
import { watchSwitch } from './switch-watch.ts'
import { violations } from './violations.ts'

const silentFault = {
  kind: 'kill a node',
  nodes: 1,
  lasted: 1,
  recovered: ['never'],
  silent: ['b gave 503 at last, and had printed:'],
} as const

describe('three nodes, one of each fault', () => {
  let figures: StormFigures

  beforeAll(async () => {
    figures = await storm({ clients: 8, pause: 60, schedules: 12, calm: 1_500, faults: faultKinds })
  }, 600_000)

  test('every promise is kept', () => {
    expect(violations(figures)).toEqual([])
  })

  test('enough happened to break them', () => {
    expect(figures.faults.map(({ kind }) => kind)).toEqual(faultKinds)
    // A fast machine is through in half the time of a slow one, and ticks come by the clock.
    expect(figures.notes.acknowledged).toBeGreaterThan(250)
    expect(figures.ticks.ticks).toBeGreaterThan(figures.schedules * 15)
    expect(figures.switches.deactivations).toBeGreaterThan(2)
    expect(figures.switches.fenced).toBeGreaterThan(0)
  })

  test('control: a client that counts a note before the answer would have lost some', () => {
    expect(figures.notes.unansweredMissing).toBeGreaterThan(0)
  })

  test.each<[string, (whole: StormFigures) => StormFigures]>([
    ['acknowledged notes are gone', (whole) => ({ ...whole, notes: { ...whole.notes, missing: 1 } })],
    ['notes were never handled', (whole) => ({ ...whole, notes: { ...whole.notes, unhandled: 1 } })],
    ['notes were handled again', (whole) => ({ ...whole, notes: { ...whole.notes, repeats: 1e6 } })],
    ['are not in the ledger', (whole) => ({ ...whole, ticks: { ...whole.ticks, gaps: 1 } })],
    ['in the ledger twice', (whole) => ({ ...whole, ticks: { ...whole.ticks, doubles: 1 } })],
    ['were not run', (whole) => ({ ...whole, ticks: { ...whole.ticks, unwritten: 1 } })],
    ['before the end', (whole) => ({ ...whole, ticks: { ...whole.ticks, behind: 1 } })],
    ['a client was answered', (whole) => ({ ...whole, unexpected: ['POST 502'] })],
    ['a node did not serve again: kill a node\nb gave 503', (whole) => ({ ...whole, faults: [silentFault] })],
    ['still open', (whole) => ({ ...whole, settled: 'never' })],
  ])('control: it would be told when %s', (words, broken) => {
    expect(violations(broken(figures)).join('\n')).toContain(words)
  })
})

describe('who watches the switch', () => {
  let node: RunningProcess
  let directory: string
  let token: string
  let guid: string

  beforeAll(async () => {
    directory = await mkdtemp(`${tmpdir()}/quoin-switch-`)
    node = await startProcess(directory, { QUOIN_ADMIN_PASSWORD: adminPassword, QUOIN_EXAMPLES: '0' })
    const body = { username: 'admin', password: adminPassword }
    const signedIn = await callNode(node.address, '/auth/signin', { method: 'POST', body })
    token = String(objectOf(signedIn.body).access_token)
    guid = await installOver(node.address, token, switchBlueprint)
  })

  afterAll(async () => {
    await node.end('SIGKILL')
    await rm(directory, { recursive: true, force: true })
  })

  async function watched(addresses: readonly string[]) {
    const watch = watchSwitch({ address: node.address, token, guid, nodes: () => addresses })
    while (watch.figures.activations < 2 && watch.figures.wrong.length === 0)
      await new Promise((resolve) => setTimeout(resolve, 20))
    await watch.stop()
    return watch.figures
  }

  test('is content with a node that obeys', async () => {
    const figures = await watched([node.address])
    expect(figures).toMatchObject({ unanswered: 0, fenced: 0, wrong: [] })
    expect(figures.asked).toBeGreaterThanOrEqual(20)
  })

  test('control: finds a node without a fence, which answers from what it remembers', async () => {
    const forgetful = await startLocalServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end('"on"')
    })
    try {
      const { wrong } = await watched([node.address, forgetful.url])
      expect(wrong[0]).toBe('node 1 answered 200 while it was off')
    } finally {
      await forgetful.close()
    }
  })
})
