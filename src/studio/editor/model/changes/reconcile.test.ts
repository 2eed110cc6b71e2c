import { describe, expect, test } from 'vitest'
import type { BlockContent } from '../../../../shared/blueprint.ts'
import type { BlueprintNote } from '../../../../shared/blueprint-note.ts'
import { emptyContent } from '../../../../shared/empty-content.ts'
import { commandBetween, type Drawing } from './command.ts'
import { applied, emptyHistory, redo, remember, undo } from './history.ts'
import { notesOver } from './note.ts'
import { editsToSend, type SentEdit, sendEdits, takeOver, withDecision, withoutRefused } from './reconcile.ts'
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

describe('remarks of two people come together, remark by remark', () => {
  const texts = (notes: readonly BlueprintNote[]) => notes.map(({ id, text }) => `${id} ${text}`)
  const [one, two, three] = [note('1', 'one'), note('2', 'two'), note('3', 'three')]

  test('what both have changed, added and removed', () => {
    const theirs = [one, { ...two, text: 'theirs' }, three, note('5', 'new')]
    const mine = [{ ...one, text: 'mine' }, two, note('4', 'my new one')]
    const { notes, base } = notesOver(theirs, [one, two, three], mine)
    expect(texts(notes)).toEqual(['1 mine', '2 theirs', '5 new', '4 my new one'])
    expect(base).toBe(theirs)
  })

  test('one that was read before mine are sent stays when they are', () => {
    const mine = [{ ...one, text: 'mine' }]
    const read = notesOver([one, two], [one], mine)
    expect(texts(read.notes)).toEqual(['1 mine', '2 two'])
    // Another one was faster again.
    const again = notesOver([one, two, three], read.base ?? [], read.notes)
    expect(texts(again.notes)).toEqual(['1 mine', '2 two', '3 three'])
    const stored = notesOver(structuredClone([...again.notes]), again.notes, again.notes)
    expect(stored).toEqual({ notes: again.notes, base: undefined })
    expect(stored.notes).toBe(again.notes)
  })

  test('one that comes with the reply stays, and so does what was written meanwhile', () => {
    const sent = [{ ...one, text: 'mine' }]
    const reply = [{ ...one, text: 'mine' }, two]
    const meanwhile = notesOver(reply, sent, [{ ...one, text: 'mine too' }])
    expect(texts(meanwhile.notes)).toEqual(['1 mine too', '2 two'])
    expect(meanwhile.base).toBe(reply)
  })

  test('one that another user removed goes, and one that was removed here stays away', () => {
    const { notes } = notesOver([two, three], [one, two, three], [{ ...one, text: 'mine' }, three])
    expect(texts(notes)).toEqual(['3 three'])
  })
})

describe('sending', () => {
  const edit = (guid: string, hash: string | null = 'h', title = guid): SentEdit => ({
    guid,
    update_hash: hash,
    content: content(title),
  })
  const guids = (edits: readonly SentEdit[]) => edits.map(({ guid }) => guid)

  /** What is stored and refused by a server that refuses requests with one of these blocks, and how many requests it took. */
  async function sent(edits: readonly SentEdit[], bad: ReadonlySet<string>, why = 'some') {
    const [stored, refused]: [string[], string[]] = [[], []]
    let requests = 0
    const failed = await sendEdits(edits, {
      async stage(some) {
        requests += 1
        if (some.some(({ guid }) => bad.has(guid))) throw new Error(why)
        stored.push(...guids(some))
      },
      refusalOf: () => (why === 'some' || why === 'all' || why === 'added' ? why : undefined),
      refuse: (some) => refused.push(...guids(some)),
    }).then(
      () => false,
      () => true,
    )
    return { stored, refused, requests, failed }
  }

  test('one block that can never be stored takes no other back', async () => {
    const edits = [...'abcdefgh'].map((guid) => edit(guid))
    expect(await sent(edits, new Set('f'))).toEqual({
      stored: [...'abcdegh'],
      refused: ['f'],
      requests: 7,
      failed: false,
    })
    expect(await sent(edits, new Set('f'), 'all')).toMatchObject({ stored: [], refused: [...'abcdefgh'] })
  })

  test('a blueprint that is full refuses the blocks that are added, and stores the others', async () => {
    const edits = [edit('old'), edit('new', null), edit('other')]
    expect(await sent(edits, new Set(['new']), 'added')).toMatchObject({
      stored: ['old', 'other'],
      refused: ['new'],
    })
    expect(await sent([edit('old')], new Set(['old']), 'added')).toMatchObject({ refused: ['old'] })
  })

  test('a server that is away refuses nothing', async () => {
    expect(await sent([edit('a'), edit('b')], new Set('a'), 'away')).toEqual({
      stored: [],
      refused: [],
      requests: 1,
      failed: true,
    })
  })

  test('more edits or bytes than one request may have go in several', async () => {
    const many = Array.from({ length: 2_100 }, (_, i) => edit(`${i}`))
    expect(await sent(many, new Set())).toMatchObject({ stored: guids(many), requests: 5 })
    const large = Array.from({ length: 5 }, (_, i) => edit(`${i}`, 'h', 'ü'.repeat(100_000)))
    expect(await sent(large, new Set())).toMatchObject({ stored: guids(large), requests: 3 })
    const none = await sent(many, new Set(guids(many)))
    expect(none).toMatchObject({ stored: [], refused: guids(many) })
    expect(none.requests).toBeLessThan(100)
  })

  test('what is refused goes, with the steps that touch it; other steps and blocks stay', () => {
    const known = readBlocks([record('a', 'one', 'h1'), record('b', 'two', 'h2')])
    const before = { flow: stagedFlow(known), notes: [] }
    const first = { ...before, flow: new Map(before.flow).set('a', content('A')) }
    const second = { ...before, flow: new Map(first.flow).set('b', content('B')).set('c', content('C')) }
    const steps = [commandBetween('first', before, first), commandBetween('second', first, second)]
    const history = steps.reduce((all, step) => (step ? remember(all, step, 0) : all), emptyHistory)
    const after = withoutRefused({ drawing: second, known, history }, new Set(['b', 'c']))
    const titles = Object.fromEntries([...after.drawing.flow].map(([guid, { title }]) => [guid, title]))
    expect(titles).toEqual({ a: 'A', b: 'two' })
    expect(after.history.done.map(({ label }) => label)).toEqual(['first'])
  })
})

describe('a conflict', () => {
  const known = readBlocks([record('a', 'one', 'h1'), record('b', 'two', 'h2')])
  const theirs = readBlocks([record('a', 'theirs', 'h3')]).get('a')
  const before = { flow: stagedFlow(known), notes: [] }
  const drawing = { ...before, flow: new Map(before.flow).set('a', content('mine')) }
  const typed = commandBetween('type', before, drawing)
  if (!typed) throw new Error('Nothing was typed.')
  const drawn = { drawing, known, history: remember(emptyHistory, typed, 0) }
  const titleIn = ({ flow }: Drawing) => flow.get('a')?.title

  test('the own change that is kept is sent over theirs, and undoing it goes before both', () => {
    const kept = withDecision(drawn, { guid: 'a', theirs }, { label: undefined, at: 1 })
    expect(titleIn(kept.drawing)).toBe('mine')
    expect(editsToSend(kept.drawing.flow, kept.known, ['a'])).toMatchObject([{ update_hash: 'h3' }])
    expect(kept.history.done.map(({ label }) => label)).toEqual(['type'])
  })

  test.each([
    ['changed', theirs, 'theirs'],
    ['removed', undefined, undefined],
  ])('taking what they %s loses nothing: undo brings the own change back', (_what, other, title) => {
    const taken = withDecision(drawn, { guid: 'a', theirs: other }, { label: 'take', at: 1 })
    expect(titleIn(taken.drawing)).toBe(title)
    expect(editsToSend(taken.drawing.flow, taken.known, ['a'])).toEqual([])
    const step = undo(taken.history, taken.drawing)
    if (step.outcome !== 'done') throw new Error(step.outcome)
    const back = applied(taken.drawing, step.command)
    expect(titleIn(back)).toBe('mine')
    // It is sent over what they have, and the steps of before are still there.
    expect(editsToSend(back.flow, taken.known, ['a'])).toMatchObject([{ content: { title: 'mine' } }])
    expect(undo(step.history, back)).toMatchObject({ outcome: 'done', command: { label: 'type' } })
    expect(redo(step.history, back)).toMatchObject({ outcome: 'done', command: { label: 'take' } })
  })
})
