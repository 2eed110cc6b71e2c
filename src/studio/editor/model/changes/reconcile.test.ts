import { expect, test } from 'vitest'
import type { BlockContent } from '../../../../shared/blueprint.ts'
import type { BlueprintNote } from '../../../../shared/blueprint-note.ts'
import { emptyContent } from '../../../../shared/empty-content.ts'
import { mergeNotes } from './note.ts'
import { editsToSend, takeOver } from './reconcile.ts'
import { readBlocks, type StagedRecord, savedFlow, stagedBy, stagedFlow } from './staged-blocks.ts'

const content = (title: string): BlockContent => ({ ...emptyContent, type: 'branch', title })
const by = { guid: 'u', username: 'anna' }
const record = (
  guid: string,
  title: string,
  hash: string,
  unsaved: StagedRecord['unsaved'] = null,
): StagedRecord => ({
  ...content(title),
  _meta: { guid, update_hash: hash },
  is_created: unsaved?.change !== 'created',
  unsaved,
})
const stamp = { by, at: 1 }

test('records are read as what is saved and what is staged', () => {
  const known = readBlocks([
    record('same', 'one', 'h1'),
    record('changed', 'old', 'h2', { change: 'updated', ...stamp, ...content('new') }),
    record('added', 'fresh', 'h3', { change: 'created', ...stamp }),
    record('gone', 'was', 'h4', { change: 'removed', ...stamp }),
  ])
  const titles = (flow: ReadonlyMap<string, BlockContent>) =>
    Object.fromEntries([...flow].map(([guid, { title }]) => [guid, title]))
  expect(titles(stagedFlow(known))).toEqual({ same: 'one', changed: 'new', added: 'fresh' })
  expect(titles(savedFlow(known))).toEqual({ same: 'one', changed: 'old', gone: 'was' })
  expect(stagedBy(known)).toEqual([{ username: 'anna', blocks: 3 }])
  expect(stagedFlow(known).get('changed')).not.toHaveProperty('by')
})

test('the work of others appears; what is not stored yet stays, with the state it was changed from', () => {
  const before = readBlocks([
    record('mine', 'a', 'h1'),
    record('other', 'b', 'h2'),
    record('gone', 'c', 'h3'),
  ])
  const flow = new Map(stagedFlow(before)).set('mine', content('typed')).set('new', content('drawn'))
  const fresh = readBlocks([
    record('mine', 'theirs', 'h9'),
    record('other', 'changed', 'h8'),
    record('came', 'd', 'h7'),
  ])
  const taken = takeOver(flow, before, fresh, new Set(['mine', 'new']))
  const titles = Object.fromEntries([...taken.flow].map(([guid, { title }]) => [guid, title]))
  expect(titles).toEqual({ mine: 'typed', other: 'changed', came: 'd', new: 'drawn' })
  expect(taken.known.get('mine')?.hash).toBe('h1')
  expect(taken.known.has('new')).toBe(false)
})

test('where nothing changed nothing is new, so that nothing is drawn again', () => {
  const before = readBlocks([record('a', 'x', 'h1')])
  const flow = stagedFlow(before)
  expect(takeOver(flow, before, readBlocks([record('a', 'x', 'h1')]), new Set()).flow).toBe(flow)
})

test('only what differs from the server is sent, each against the state it knows', () => {
  const known = readBlocks([
    record('same', 'x', 'h1'),
    record('changed', 'x', 'h2'),
    record('removed', 'x', 'h3'),
    record('gone already', 'x', 'h4', { change: 'removed', ...stamp }),
  ])
  const flow = new Map([
    ['same', content('x')],
    ['changed', content('y')],
    ['new', content('z')],
  ])
  const dirty = ['same', 'changed', 'removed', 'new', 'gone already', 'drawn and removed']
  expect(
    editsToSend(flow, known, dirty).map(({ guid, update_hash, content: to }) => [
      guid,
      update_hash,
      to?.title,
    ]),
  ).toEqual([
    ['changed', 'h2', 'y'],
    ['removed', 'h3', undefined],
    ['new', null, 'z'],
  ])
})

const note = (id: string, text: string): BlueprintNote => ({
  id,
  kind: 'note',
  text,
  color: 'yellow',
  position: { x: 0, y: 0 },
  size: { width: 1, height: 1 },
})

test('remarks of two people come together, remark by remark', () => {
  const [one, two, three] = [note('1', 'one'), note('2', 'two'), note('3', 'three')]
  const base = [one, two, three]
  const mine = [{ ...one, text: 'mine' }, two, note('4', 'my new one')]
  const theirs = [one, { ...two, text: 'theirs' }, three, note('5', 'their new one')]
  expect(mergeNotes(base, mine, theirs).map(({ id, text }) => [id, text])).toEqual([
    ['1', 'mine'],
    ['2', 'theirs'],
    ['5', 'their new one'],
    ['4', 'my new one'],
  ])
})
