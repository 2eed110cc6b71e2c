import { describe, expect, it } from 'vitest'
import { isForField, isOfCharacters, keyCaps, stepOf } from './shortcuts.ts'

const press = (key: string, ...held: string[]) => ({
  key,
  ctrlKey: held.includes('ctrl'),
  metaKey: held.includes('meta'),
  altKey: held.includes('alt'),
  shiftKey: held.includes('shift'),
})

describe('a pressed key', () => {
  it.each([
    [press('a'), 'a'],
    [press('A', 'shift'), 'shift+a'],
    [press('k', 'ctrl'), 'mod+k'],
    [press('k', 'meta'), 'mod+k'],
    [press('Z', 'ctrl', 'shift'), 'mod+shift+z'],
    [press('?', 'shift'), '?'],
    [press('Escape'), 'escape'],
    [press('ArrowUp', 'alt'), 'alt+arrowup'],
    [press(' '), 'space'],
  ])('%o is %s', (input, step) => {
    expect(stepOf(input)).toBe(step)
  })
})

describe('a shortcut as it is shown', () => {
  it.each([
    ['mod+shift+z', false, [['Ctrl', 'Shift', 'Z']]],
    ['mod+k', true, [['⌘', 'K']]],
    ['g b', false, [['G'], ['B']]],
  ] as const)('%s', (keys, isMac, caps) => {
    expect(keyCaps(keys, isMac)).toEqual(caps)
  })
})

describe('a shortcut of characters', () => {
  it.each(['a', '?', '/', '=', 'shift+a', 'g b'])('%s', (keys) => expect(isOfCharacters(keys)).toBe(true))
  it.each(['mod+s', 'mod+shift+z', 'escape', 'delete', 'alt+arrowup'])('is not %s', (keys) =>
    expect(isOfCharacters(keys)).toBe(false),
  )
})

describe('a key for a field that is about to open', () => {
  const key = (name: string, ctrlKey = false) => ({
    key: name,
    ctrlKey,
    metaKey: false,
    altKey: false,
    shiftKey: false,
  })
  it.each(['o', 'A', '?', ' ', 'Backspace', 'Delete', '😀'])('%s', (name) =>
    expect(isForField(key(name))).toBe(true),
  )
  it.each(['Escape', 'Enter', 'ArrowUp', 'F2'])('is not %s', (name) =>
    expect(isForField(key(name))).toBe(false),
  )
  it('is none with Ctrl', () => expect(isForField(key('s', true))).toBe(false))
})
