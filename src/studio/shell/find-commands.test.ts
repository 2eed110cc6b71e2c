import { describe, expect, it } from 'vitest'
import { findCommands } from './find-commands.ts'

const all = [
  { id: '1', label: 'Blueprints', group: 'Go to', words: 'flows endpoints', run: () => {} },
  { id: '2', label: 'System log', group: 'Go to', run: () => {} },
  { id: '3', label: 'Café orders', group: 'Blueprint', run: () => {} },
  { id: '4', label: 'Show the log', group: 'Do', run: () => {} },
]
const found = (typed: string) => findCommands(all, typed).map(({ id }) => id)

describe('the command palette finds', () => {
  it.each([
    ['nothing where nothing fits', 'zebra', []],
    ['everything without words', '  ', ['1', '2', '3', '4']],
    ['by more words than the label has', 'endpoints', ['1']],
    ['labels before groups', 'blueprint', ['1', '3']],
    ['without accents', 'cafe', ['3']],
    ['all words, in any order', 'log show', ['4']],
    ['nothing where one word is missing', 'log zebra', []],
  ])('%s', (_what, typed, ids) => {
    expect(found(typed)).toEqual(ids)
  })
})
