import { expect, test } from 'vitest'
import { turnReplies } from './sent-replies.ts'

function open() {
  const sent: number[] = []
  const turnEnds: (() => void)[] = []
  const time = { now: 0 }
  const replies = turnReplies({ soon: (call) => void turnEnds.push(call) }, () => time.now)
  return {
    sent,
    time,
    turnEnds,
    begin: () => replies.begin(time.now),
    add: (reply: number) => replies.add(() => void sent.push(reply)),
    endTurn: () => {
      for (const call of turnEnds.splice(0)) call()
    },
  }
}

test('sends the replies of a turn at its end, in their order', () => {
  const { add, endTurn, sent, turnEnds } = open()
  add(1)
  add(2)
  expect(sent).toEqual([])
  expect(turnEnds).toHaveLength(1)
  endTurn()
  expect(sent).toEqual([1, 2])
  add(3)
  endTurn()
  expect(sent).toEqual([1, 2, 3])
})

test.each([
  { after: 0, sent: [] },
  { after: 1, sent: [] },
  { after: 1.01, sent: [1, 2] },
])('a request that begins $after ms after the first reply finds sent: $sent', ({ after, sent }) => {
  const turn = open()
  turn.begin()
  turn.add(1)
  turn.add(2)
  turn.time.now += after
  turn.begin()
  expect(turn.sent).toEqual(sent)
  turn.add(3)
  turn.endTurn()
  expect(turn.sent).toEqual([1, 2, 3])
})

test('lets 64 replies wait at most, and begins to count their time after them', () => {
  const { add, begin, endTurn, sent, time } = open()
  for (let reply = 1; reply < 64; reply += 1) add(reply)
  expect(sent).toEqual([])
  time.now = 5
  add(64)
  expect(sent).toHaveLength(64)
  add(65)
  begin()
  expect(sent).toHaveLength(64)
  endTurn()
  expect(sent).toHaveLength(65)
  endTurn()
  expect(sent).toHaveLength(65)
})

test('a reply that is added while others are sent is sent too', () => {
  const sent: string[] = []
  const turnEnds: (() => void)[] = []
  const replies = turnReplies({ soon: (call) => void turnEnds.push(call) }, () => 0)
  replies.add(() => {
    sent.push('first')
    replies.add(() => void sent.push('second'))
  })
  while (turnEnds.length > 0) turnEnds.shift()?.()
  expect(sent).toEqual(['first', 'second'])
})
