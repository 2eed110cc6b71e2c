import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { csvRows } from './csv-rows.ts'

async function cellsOf(pieces: readonly string[], separator?: string): Promise<(readonly string[])[]> {
  const rows: (readonly string[])[] = []
  for await (const { cells } of csvRows(pieces, separator)) rows.push(cells)
  return rows
}

test.each([
  ['a,"b', 'quote in line 1 that is never closed'],
  ['a\nb\n"c\nd', 'quote in line 3'],
  ['"a"b,c', 'text behind a closing quote in line 1'],
  [Array.from({ length: 600 }, () => 'x').join(','), 'more than 500 columns'],
  [`a\n"${'x'.repeat(1_000_001)}"`, 'more than a million characters, which begins in line 2'],
])('%.20s is refused', async (text, message) => {
  await expect(cellsOf([text])).rejects.toThrow(message)
})

describe('what spreadsheets write', () => {
  test.each([
    ['', []],
    ['\n\r\n , \n', []],
    ['a', [['a']]],
    [
      'a,b\n1,2',
      [
        ['a', 'b'],
        ['1', '2'],
      ],
    ],
    [
      'a,b\r\n1,2\r\n',
      [
        ['a', 'b'],
        ['1', '2'],
      ],
    ],
    [
      'a,b\r1,2\r',
      [
        ['a', 'b'],
        ['1', '2'],
      ],
    ],
    ['\ufeffa,b', [['a', 'b']]],
    [
      'sep=;\r\na,b;c\r\n1;2',
      [
        ['a,b', 'c'],
        ['1', '2'],
      ],
    ],
    ['\ufeff"sep=|"\na|b', [['a', 'b']]],
    ['sep=,', []],
    ['sep=x\n1', [['sep=x'], ['1']]],
    [
      'a;b\n1,5;2',
      [
        ['a', 'b'],
        ['1,5', '2'],
      ],
    ],
    [
      'a\tb\n1\t',
      [
        ['a', 'b'],
        ['1', ''],
      ],
    ],
    [
      '"a,b";c\n1;2',
      [
        ['a,b', 'c'],
        ['1', '2'],
      ],
    ],
    ['"a ""b"" c","",x', [['a "b" c', '', 'x']]],
    [
      '"two\r\nlines",x\ny,z',
      [
        ['two\r\nlines', 'x'],
        ['y', 'z'],
      ],
    ],
    ['5" pipe,x', [['5" pipe', 'x']]],
    ['"a\n', undefined],
    [
      '"two\nlines";b;c,d\n1;2',
      [
        ['two\nlines', 'b', 'c,d'],
        ['1', '2'],
      ],
    ],
    ['\ufeff"a","b"\r\n', [['a', 'b']]],
    ['"a"""', [['a"']]],
    ['"x "";;;"" y",b', [['x ";;;" y', 'b']]],
    ['"","",1', [['', '', '1']]],
  ])('%j', async (text, rows) => {
    if (rows === undefined) await expect(cellsOf([text])).rejects.toThrow()
    else expect(await cellsOf([text])).toEqual(rows)
  })
})

test('line ends that are cut in two are one', async () => {
  expect(await cellsOf(['a,"x\r', '\ny"\r', '\n1,2\r', '', '\n\n3,"4"\r', '5'])).toEqual([
    ['a', 'x\r\ny'],
    ['1', '2'],
    ['3', '4'],
    ['5'],
  ])
  expect(await cellsOf(['a', '\nb\n', '\n', 'c'])).toEqual([['a'], ['b'], ['c']])
  // A line feed behind a piece that did not end with a return ends a line.
  expect(await cellsOf(['x\n', 'a', '\nb\n'])).toEqual([['x'], ['a'], ['b']])
})

test('a text of one piece is read in turns, between which other work runs', async () => {
  const text = 'name,"of ""it"""\r\n'.repeat(60_000)
  let others = 0
  const other = () => {
    others += 1
    turn = setImmediate(other)
  }
  let turn = setImmediate(other)
  const rows = await cellsOf([text])
  clearImmediate(turn)
  expect(rows).toHaveLength(60_000)
  expect(new Set(rows.map((row) => row.join('|')))).toEqual(new Set(['name|of "it"']))
  expect(others).toBeGreaterThanOrEqual(Math.floor(text.length / 16_384))
})

// Looked at with each piece, the first row would be read 10,000 times: 24 s.
test('a first row in very many pieces is read a few times', async () => {
  expect(
    await cellsOf([...Array.from({ length: 10_000 }, () => 'abcdefgh'.repeat(10)), ',b\n1,2']),
  ).toHaveLength(2)
})

test('rows know the line they begin in', async () => {
  const lines: number[] = []
  for await (const { line } of csvRows(['a\r\n"b\nc"\r\n\r\nd\n"e\rf\r\ng"\rh'])) lines.push(line)
  expect(lines).toEqual([1, 2, 5, 6, 9])
})

test('what is written is what is read, however it is cut', async () => {
  const cell = fc.stringMatching(/^[ab,;"\r\n\t 😀é]{0,6}$/u)
  const rows = fc.array(fc.array(cell, { minLength: 2, maxLength: 3 }), { minLength: 1, maxLength: 4 })
  await fc.assert(
    fc.asyncProperty(
      rows,
      fc.array(fc.nat(60), { maxLength: 5 }),
      fc.constantFrom(',', ';', '\t'),
      async (all, cuts, by) => {
        const text = all
          .map((row) => row.map((one) => `"${one.replaceAll('"', '""')}"`).join(by))
          .join('\r\n')
        const places = [0, ...cuts.filter((cut) => cut < text.length).sort((a, b) => a - b), text.length]
        // Not through a character of two units: a decoder of bytes never cuts there.
        const whole = places.filter((at) => !/[\ud800-\udbff]/.test(text[at - 1] ?? ''))
        const pieces = whole.slice(1).map((end, index) => text.slice(whole[index], end))
        const expected = all.filter((row) => row.some((one) => one.trim() !== ''))
        expect(await cellsOf(pieces, by)).toEqual(expected)
      },
    ),
  )
})
