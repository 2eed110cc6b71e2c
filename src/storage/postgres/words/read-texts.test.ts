import { afterAll, beforeAll, expect, test } from 'vitest'
import { openWordsRoom, type WordsRoom } from '../../../../test/postgres/words-room.ts'
import { openPostgresPool } from '../core/postgres-connection.ts'
import { wordsBehind } from './read-texts.ts'

let room: WordsRoom
beforeAll(async () => {
  room = await openWordsRoom()
})
afterAll(() => room?.close())

test('the words of all documents are read in slices, each once in a slice', async () => {
  for (const title of ['red apple', 'red pear apple', 'plum', 'red fig', '']) await room.create({ title })
  const pool = openPostgresPool({ url: room.url, connections: 1, pooled: false })
  try {
    const slices: string[] = []
    for (let behind: string | undefined = ''; behind !== undefined; ) {
      const guid: string = behind
      behind = await pool.snapshot(async (connection) => {
        const lists = wordsBehind(connection, room.entry, guid, 2)
        const words: string[] = []
        for (;;) {
          const { done, value } = await lists.next()
          if (done) {
            slices.push(words.sort().join(' '))
            return value
          }
          words.push(...value)
        }
      })
    }
    expect(slices).toEqual(['apple pear red', 'fig plum red', ''])
  } finally {
    await pool.close()
  }
})
