/** A server on a disk that is filled up, killed there, started again and given room: what it acknowledged must be there. */
import { stat, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { callNode } from '../../cluster/call-node.ts'
import { installOver } from '../../cluster/install-over.ts'
import { adminPassword, objectOf, type RunningProcess, startProcess } from '../../end-to-end/harness.ts'
import { metaOf } from '../consistency/client-calls.ts'
import { consistencyBlueprint, uris } from '../consistency/consistency-blueprint.ts'
import type { TortureResult } from '../torture-part.ts'

const CLIENTS = 8
const BALLAST_BYTES = 32 * 1024 * 1024
/** Room that is taken away at the start and given back at the end. */
const FILLER_BYTES = 24 * 1024 * 1024
/** Answers of 507 after which the disk counts as full. */
const ENOUGH = 40
const DELETES = 30
const PATIENCE_MS = 60_000
/** 75 kB. */
const text = 'a word of nine '.repeat(5_000)

export interface DiskFilling {
  readonly folder: string
  readonly tell: (line: string) => void
  readonly signal: AbortSignal
  /** Takes 507 for 201, for the control. */
  readonly lenient: boolean
}

export async function fillDisk({ folder, tell, signal, lenient }: DiskFilling): Promise<TortureResult> {
  const failures: string[] = []
  const figures: Record<string, number> = {}
  const kept = new Map<string, string>()
  let checked = 0
  const check = (holds: boolean, otherwise: string) => {
    checked += 1
    if (!holds) failures.push(otherwise)
  }
  const data = join(folder, 'data')
  const settings = {
    ...{ QUOIN_ADMIN_PASSWORD: adminPassword, QUOIN_EXAMPLES: '0', QUOIN_RATE_LIMIT: '0' },
    // It takes longer than a sign-in counts as new.
    QUOIN_CONFIRM_SECONDS: '0',
  }
  let node: RunningProcess = await startProcess(data, settings)
  const call = (path: string, method: 'GET' | 'POST' | 'DELETE' = 'GET', body?: Record<string, string>) => {
    signal.throwIfAborted()
    return callNode(node.address, path, { method, ...(body && { body }) })
  }
  const signIn = () => call('/auth/signin', 'POST', { username: 'admin', password: adminPassword })

  async function create(key: string): Promise<number | string> {
    const reply = await call(`/${uris.documents}`, 'POST', { key, group: 'disk', words: text })
    if (reply.status === 201) kept.set(key, metaOf(reply.body, 'guid'))
    if (lenient && reply.status === 507) kept.set(key, '')
    return reply.status
  }

  async function fill(round: string): Promise<void> {
    let full = 0
    const client = async (number: number) => {
      for (let n = 0; full < ENOUGH; n++) {
        const status = await create(`${round}-${number}-${n}`)
        if (status === 507) full += 1
        else check(status === 201, `a create on the filling disk was answered ${status}`)
      }
    }
    await Promise.all(Array.from({ length: CLIENTS }, (_, number) => client(number)))
    figures[`acknowledged, ${round}`] = kept.size
  }

  async function look(when: string): Promise<void> {
    const there = new Set<string>()
    for (let page = 1; page > 0; ) {
      const { status, body } = await call(`/${uris.keys}?group=disk&offset=${there.size}`)
      check(status === 200, `${when}: a list was answered ${status} ${JSON.stringify(body)}`)
      const keys = Array.isArray(body) ? body.map(String) : []
      for (const key of keys) there.add(key)
      page = keys.length
    }
    for (const key of kept.keys()) check(there.has(key), `${when}: ${key} was acknowledged and is gone`)
    for (const key of there) check(kept.has(key), `${when}: ${key} was refused and is there`)
  }

  async function remove(when: string): Promise<void> {
    for (const [key, guid] of [...kept].slice(0, DELETES)) {
      const { status } = await call(`/${uris.documents}/${guid}`, 'DELETE')
      check(status === 200, `${when}: a delete was answered ${status}`)
      if (status === 200) kept.delete(key)
    }
  }

  async function enter(when: string): Promise<void> {
    const { status } = await signIn()
    check(status === 200, `${when}: a sign-in was answered ${status}`)
  }

  try {
    const token = String(objectOf((await signIn()).body).access_token)
    await installOver(node.address, token, consistencyBlueprint)
    await until(async () => signal.aborted || (await sizeOf(join(data, 'ballast'))) >= BALLAST_BYTES)
    await writeFile(join(folder, 'filler'), Buffer.alloc(FILLER_BYTES))
    await fill('first')
    tell(`full after ${kept.size} documents`)
    await look('on the full disk')
    await remove('on the full disk')
    await enter('on the full disk')
    if (lenient) return { checked, failures, figures }
    for (const round of ['second', 'third']) {
      await fill(round)
      await node.end('SIGKILL')
      node = await startProcess(data, settings)
      await look(`after the restart of the ${round} round`)
      await remove(`after the restart of the ${round} round`)
      await enter(`after the restart of the ${round} round`)
    }
    await truncate(join(folder, 'filler'), 0)
    const began = performance.now()
    await until(async () => (await create(`room-${performance.now()}`)) === 201)
    figures['seconds from room to writes'] = Math.round((performance.now() - began) / 1000)
    await look('with room again')
  } finally {
    await node.end('SIGKILL')
  }
  return { checked, failures, figures }
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  const late = performance.now() + PATIENCE_MS
  while (!(await holds())) {
    if (performance.now() > late) throw new Error(`It did not come true within ${PATIENCE_MS} ms.`)
    await wait(250)
  }
}

const sizeOf = (path: string) =>
  stat(path).then(
    ({ size }) => size,
    () => 0,
  )
