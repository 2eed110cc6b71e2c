import { expect, test } from 'vitest'
import { type Segment, WriterLine } from './group-commit.ts'

// The line of sessions that wait for the writer: in order, each turn once, and none for a session that has given up.

const segment = (): Segment => ({
  granted: () => undefined,
  lost: () => undefined,
  settled: () => undefined,
})

function openLine() {
  const line = new WriterLine()
  const seen: string[] = []
  const add = (name: string, of?: Segment, fails = false) =>
    line.add({
      segment: of,
      turn() {
        seen.push(name)
        if (fails) throw new Error(`${name} failed`)
      },
      reject: (error) => seen.push(`${name} rejected: ${error instanceof Error ? error.message : error}`),
    })
  return { line, seen, add }
}

test('turns are given in the order in which they were asked for, one at a time', () => {
  const { line, seen, add } = openLine()
  for (const name of ['a', 'b', 'c']) add(name, segment())
  expect([line.takeFirst(), seen]).toEqual([true, ['a']])
  expect([line.takeFirst(), line.takeFirst(), line.takeFirst()]).toEqual([true, true, false])
  expect([seen, line.isEmpty]).toEqual([['a', 'b', 'c'], true])
})

test('a session that gives up gets no turn, and is told once why; the others keep their places', () => {
  const { line, seen, add } = openLine()
  const [one, other] = [segment(), segment()]
  add('a', one)
  add('b', other)
  add('c', one)
  add('d')
  line.giveUp(one, new Error('rolled back'))
  expect(seen).toEqual(['a rejected: rolled back', 'c rejected: rolled back'])
  while (line.takeFirst());
  expect(seen.slice(2)).toEqual(['b', 'd'])
})

test('a turn that throws rejects its own promise, and the next one is given', () => {
  const { line, seen, add } = openLine()
  add('a', segment(), true)
  add('b')
  expect([line.takeFirst(), line.takeFirst()]).toEqual([true, true])
  expect(seen).toEqual(['a', 'a rejected: a failed', 'b'])
})

test('when the writer closes all that wait are rejected, and none gets a turn', () => {
  const { line, seen, add } = openLine()
  for (const name of ['a', 'b']) add(name, segment())
  line.rejectAll(new Error('closed'))
  expect([line.takeFirst(), line.isEmpty]).toEqual([false, true])
  expect(seen).toEqual(['a rejected: closed', 'b rejected: closed'])
})
