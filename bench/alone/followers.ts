/**
 * 1,000 clients follow a list of tasks on one node: how much memory they take, and how long a write needs until each of them has
 * the new list. Meanwhile another client asks for `/info` again and again: an event loop that is held makes it wait.
 *
 * Three controls. As many connections that have asked for the same list once, and follow nothing, show how much of the memory is
 * Node's. 1,000 clients that follow another list get nothing of the writes. And the same client asks for `/info` while nothing is
 * written.
 */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { type Candidate, startQuoin } from '../candidates.ts'
import { MIB } from '../large-bodies.ts'
import { memoryOf } from '../process-memory.ts'
import { median } from '../statistics.ts'
import type { Goal, GoalTiming, Reached } from './goal.ts'
import { milliseconds } from './goal.ts'

const CLIENTS = 1_000
const MOST_MB = 100
const MOST_MS = 1_000
/** Writes in a round, and the pause between two. */
const WRITES = 5
const PAUSE_MS = 700
const REST_MS = 5_000
/** As long as the writes. */
const QUIET_MS = 10_000

export const followers: Goal = {
  id: 'followers',
  title: '1,000 clients follow a list',
  goal: `under ${MOST_MB} MB more, each write at all of them in under ${MOST_MS / 1000} s`,
  measure,
}

async function measure({ core, rounds }: GoalTiming): Promise<Reached> {
  const asking = await withServer(core, (candidate) => grownBy(candidate, 'application/json', 'tasks'))
  console.log(`  control: ${CLIENTS} connections that follow nothing take ${asking.toFixed(1)} MB`)
  const following = await withServer(core, async (candidate) => {
    const { clients, megabytes } = await opened(candidate, 'text/event-stream', 'tasks')
    const others = await openAll(candidate, 'text/event-stream', 'tasks?status=none')
    const quiet = probing(candidate)
    await wait(QUIET_MS)
    const before = await quiet.end()
    const times: number[] = []
    let slowest = 0
    for (let number = 0; number < rounds * WRITES; number += 1) {
      const probe = probing(candidate)
      times.push(await timeOfWrite(candidate, clients, `followed ${number};`))
      slowest = Math.max(slowest, await probe.end())
      await wait(PAUSE_MS)
    }
    const strangers = others.filter(({ text }) => text.includes('followed'))
    if (strangers.length > 0) throw new Error(`${strangers.length} clients got what they do not follow.`)
    const after = resident(candidate) - megabytes.before
    for (const { socket } of [...clients, ...others]) socket.destroy()
    return { grown: megabytes.grown, after, times, slowest, before }
  })
  const { grown, after, times, slowest, before } = following
  console.log(`  with as many that follow another list, after ${times.length} writes: ${after.toFixed(1)} MB`)
  const worst = Math.max(...times)
  const found = `${grown.toFixed(1)} MB more (as many idle connections: ${asking.toFixed(1)} MB); a write at all of them: median ${milliseconds(median(times))}, slowest ${milliseconds(worst)}; another request waited ${milliseconds(slowest)} at most (without writes ${milliseconds(before)})`
  return { found, met: grown < MOST_MB && worst < MOST_MS }
}

async function withServer<T>(
  core: number | undefined,
  work: (candidate: Candidate) => Promise<T>,
): Promise<T> {
  const settings = { QUOIN_STREAMS: '0', QUOIN_STREAMS_PER_ADDRESS: '0' }
  const candidate = await startQuoin({ core, settings })
  try {
    for (let number = 0; number < 20; number += 1) await addTask(candidate, `before ${number}`)
    return await work(candidate)
  } finally {
    await candidate.close()
  }
}

async function grownBy(candidate: Candidate, accept: string, path: string): Promise<number> {
  const { clients, megabytes } = await opened(candidate, accept, path)
  for (const { socket } of clients) socket.destroy()
  return megabytes.grown
}

interface Client {
  readonly socket: Socket
  /** What came since the last look. */
  text: string
}

async function opened(candidate: Candidate, accept: string, path: string) {
  await wait(REST_MS)
  const before = resident(candidate)
  const clients = await openAll(candidate, accept, path)
  await wait(REST_MS)
  return { clients, megabytes: { before, grown: resident(candidate) - before } }
}

/** Resolves when each client has had its first reply. */
async function openAll(candidate: Candidate, accept: string, path: string): Promise<Client[]> {
  const clients: Client[] = []
  while (clients.length < CLIENTS)
    clients.push(...(await Promise.all(Array.from({ length: 50 }, () => openOne(candidate, accept, path)))))
  return clients
}

async function openOne({ port }: Candidate, accept: string, path: string): Promise<Client> {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  const client: Client = { socket, text: '' }
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    client.text = (client.text + chunk).slice(-64 * 1024)
  })
  socket.write(`GET /api/v1/${path} HTTP/1.1\r\nhost: bench\r\naccept: ${accept}\r\n\r\n`)
  const last = accept === 'application/json' ? ']' : '\n\n\r\n'
  while (!client.text.endsWith(last)) await once(socket, 'data')
  client.text = ''
  return client
}

/** Milliseconds from the request that writes until the last client has the new list. */
async function timeOfWrite(candidate: Candidate, clients: readonly Client[], title: string): Promise<number> {
  for (const client of clients) client.text = ''
  const began = performance.now()
  const all = Promise.all(
    clients.map(async (client) => {
      while (!client.text.includes(title)) await once(client.socket, 'data')
    }),
  )
  await addTask(candidate, title)
  await all
  return performance.now() - began
}

async function addTask({ base, token }: Candidate, title: string): Promise<void> {
  const reply = await fetch(`${base}/api/v1/tasks`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ title }),
  })
  if (reply.status !== 201) throw new Error(`A task was answered with ${reply.status}.`)
  await reply.arrayBuffer()
}

/** Asks for `/info` all the time; `end` gives the longest that it took. */
function probing({ base }: Candidate): { end(): Promise<number> } {
  let over = false
  const asking = (async () => {
    let longest = 0
    while (!over) {
      const began = performance.now()
      await (await fetch(`${base}/api/v1/info`)).arrayBuffer()
      longest = Math.max(longest, performance.now() - began)
      await wait(2)
    }
    return longest
  })()
  return {
    end() {
      over = true
      return asking
    },
  }
}

function resident({ pid }: Candidate): number {
  return (memoryOf(pid)?.resident ?? Number.NaN) / MIB
}
