/** The promise that is worth most: a task whose 201 was received is there after kill -9. */
import { randomInt, randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startLocalServer } from '../local-server.ts'
import { adminPassword, objectOf, objectsOf, type RunningProcess, startProcess } from './harness.ts'

const CONNECTIONS = 16
const KILLS = 4

let directory: string
let quoin: RunningProcess
let headers: Readonly<Record<string, string>>

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'quoin-test-'))
  quoin = await startProcess(directory, { QUOIN_ADMIN_PASSWORD: adminPassword })
  const signIn = await fetch(`${quoin.address}/api/v1/auth/signin`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username: 'admin', password: adminPassword }),
  })
  const { access_token } = objectOf(JSON.parse(await signIn.text()))
  headers = { 'content-type': 'application/json', authorization: `Bearer ${access_token}` }
})

afterAll(async () => {
  await quoin.end('SIGKILL')
  await rm(directory, { recursive: true, force: true })
})

/**
 * Creates tasks over 16 connections until the process is killed in the middle of it, and starts it again on the same
 * folder. Gives the titles whose 201 was received. `address`: whom to ask, the process itself or a proxy.
 */
async function storm(round: string, address: string): Promise<string[]> {
  const acknowledged: string[] = []
  let killed = false
  const create = async () => {
    while (!killed) {
      const title = randomUUID()
      const body = JSON.stringify({ title, status: round })
      try {
        const reply = await fetch(`${address}/api/v1/tasks`, { method: 'POST', headers, body })
        if (reply.status !== 201) throw new Error(`${reply.status} ${await reply.text()}`)
        acknowledged.push(title)
        await reply.arrayBuffer()
      } catch (error) {
        // What breaks because the process is gone is expected.
        if (!killed) throw error
      }
    }
  }
  const connections = Promise.all(Array.from({ length: CONNECTIONS }, create))
  const kill = async () => {
    while (acknowledged.length < CONNECTIONS) await wait(1)
    await wait(randomInt(20, 250))
    const ended = quoin.end('SIGKILL')
    killed = true
    expect(await ended).toBe('SIGKILL')
  }
  await Promise.all([connections, kill()])
  quoin = await startProcess(directory)
  return acknowledged
}

/** Which of the titles are not among the tasks of the round. */
async function missing(round: string, titles: readonly string[]): Promise<string[]> {
  const reply = await fetch(`${quoin.address}/api/v1/tasks?status=${round}&limit=10000`)
  expect(reply.status).toBe(200)
  const there = new Set(objectsOf(JSON.parse(await reply.text())).map((task) => task.title))
  return titles.filter((title) => !there.has(title))
}

test(`after each of ${KILLS} kills every acknowledged task is there, those of earlier rounds too`, async () => {
  const rounds = new Map<string, string[]>()
  for (let kill = 0; kill < KILLS; kill++) {
    const round = `kill-${kill}`
    rounds.set(round, await storm(round, quoin.address))
    for (const [earlier, titles] of rounds) {
      expect(titles.length).toBeGreaterThanOrEqual(CONNECTIONS)
      expect(await missing(earlier, titles)).toEqual([])
    }
  }
})

test('control: a server that replies 201 before the task is stored is detected', async () => {
  const hasty = await startLocalServer(async (request: IncomingMessage, response) => {
    const body = await text(request)
    response.writeHead(201).end('{}')
    await fetch(`${quoin.address}${request.url}`, { method: 'POST', headers, body }).catch(() => undefined)
  })
  try {
    let lost = 0
    for (let kill = 0; kill < 10 && lost === 0; kill++) {
      const round = `hasty-${kill}`
      lost = (await missing(round, await storm(round, hasty.url))).length
    }
    expect(lost).toBeGreaterThan(0)
  } finally {
    await hasty.close()
  }
})
