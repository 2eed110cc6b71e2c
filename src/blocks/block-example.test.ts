import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findExamples } from './block-example.ts'

let directory: string
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'quoin-examples-'))
  await mkdir(join(directory, 'logic'))
})
afterAll(() => rm(directory, { recursive: true }))

const step = { request: { method: 'GET', path: '/api/v1/tasks' }, reply: { status: 200 } }
const example = {
  shows: 'Lists tasks.',
  blueprint: { name: 'Tasks', blocks: { a: { type: 'branch' } }, layout: { a: [0, 0] } },
  steps: [step],
}

test.each([
  ['no sentence', { ...example, shows: 'lists tasks' }, 'shows'],
  ['no blueprint', { ...example, blueprint: undefined }, 'at'],
  ['a block without a type', { ...example, blueprint: { name: 'x', blocks: { a: {} } } }, 'blocks/a'],
  ['no steps', { ...example, steps: [] }, 'steps'],
  [
    'a path that is none',
    { ...example, steps: [{ ...step, request: { method: 'GET', path: 'tasks' } }] },
    'path',
  ],
  ['an unknown word', { ...example, steps: [{ ...step, until: true }] }, 'steps/0'],
])('refused, with the name of the file: %s', async (_, content, place) => {
  await writeFile(join(directory, 'logic', 'branch.example.json'), JSON.stringify(content))
  await expect(findExamples(directory)).rejects.toThrow(join('logic', 'branch.example.json'))
  await expect(findExamples(directory)).rejects.toThrow(place)
})

test('examples are found by folder and by their ending', async () => {
  await writeFile(join(directory, 'logic', 'branch.example.json'), JSON.stringify(example))
  await writeFile(join(directory, 'logic', 'other.json'), 'no JSON')
  expect(await findExamples(directory)).toEqual([{ identifier: 'branch', group: 'logic', example }])
})
