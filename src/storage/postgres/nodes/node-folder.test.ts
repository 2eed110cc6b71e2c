/** When a node takes the place of the one before it at once, and when that one's lease has to end first. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openNode } from '../../../../test/postgres/open-node.ts'
import { storageTemplate } from '../../../../test/quoin-template.ts'
import { openTemporaryDatabase, type TemporaryDatabase } from '../../../../test/temporary-database.ts'
import type { Database } from '../../database.ts'

const program = fileURLToPath(new URL('../../../../test/cluster/node-process.ts', import.meta.url))

let temporary: TemporaryDatabase
let folder: string
let child: ChildProcess
let first: string
let second: Database | undefined

beforeEach(async () => {
  temporary = await openTemporaryDatabase(storageTemplate)
  folder = await mkdtemp(join(tmpdir(), 'quoin-folder-'))
  child = spawn(process.execPath, [program, temporary.url, folder], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [said] = await once(child.stdout?.setEncoding('utf8') ?? child, 'data')
  first = String(said).trim()
})
afterEach(async () => {
  await second?.close()
  second = undefined
  await end()
  await temporary.drop()
  await rm(folder, { recursive: true, force: true })
})

async function end(): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}

/** Opens a node on the folder and gives the guids of the other nodes that writers wait for. */
async function others(directory = folder): Promise<readonly string[]> {
  second = await openNode(temporary.url, { directory, connections: 2, node: 'same' })
  const nodes = (await second.capabilities.cluster?.nodes()) ?? []
  return nodes.filter(({ live, self }) => live && !self).map(({ guid }) => guid)
}

function change(sql: string): void {
  const file = new DatabaseSync(join(folder, 'node.db'))
  file.exec(sql)
  file.close()
}

test('a node that runs is not replaced, though the new one has its folder and its name', async () => {
  expect(await others()).toEqual([first])
})

test('nor is one that is frozen: it may go on in the next moment', async () => {
  child.kill('SIGSTOP')
  expect(await others()).toEqual([first])
})

test('nor one whose folder another node has: that says nothing about it', async () => {
  await end()
  expect(await others(`${folder}/elsewhere`)).toEqual([first])
})

test('nor one that ran before the machine was restarted, or on another machine', async () => {
  await end()
  change(`UPDATE node SET boot = 'another'`)
  expect(await others()).toEqual([first])
})

test('nor one of which the file cannot be read', async () => {
  await end()
  await writeFile(join(folder, 'node.db'), 'no database, and longer than the header of one'.repeat(20))
  expect(await others()).toEqual([first])
})

test('one that was killed is replaced at once, and no node waits for it', async () => {
  await end()
  expect(await others()).toEqual([])
  // Each node knows the last one: this one is found in the file by the next.
  const self = second?.capabilities.cluster?.self
  await second?.close()
  const file = new DatabaseSync(join(folder, 'node.db'))
  expect(file.prepare('SELECT guid FROM node').all()).toEqual([{ guid: self }])
  file.close()
})
