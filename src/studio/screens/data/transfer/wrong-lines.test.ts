import { describe, expect, test } from 'vitest'
import {
  afterSent,
  alikeLines,
  cellText,
  mendedText,
  problemsIn,
  reasonsFile,
  viewOf,
  type WrongLine,
  type WrongLines,
  withAlike,
  withCell,
  withLines,
  withReply,
  wrongLinesOf,
} from './wrong-lines.ts'

const columns = [
  { column: 'Customer', field: 'customer' },
  { column: 'Price', field: 'price' },
  { column: 'Note', field: null },
]
const nemo = 'The value of customer names no document.'
const problems = [
  { line: 9, fields: ['customer'], message: nemo, reasons: { customer: nemo }, cells: ['Nemo', 7, ''] },
  { line: 4, fields: ['customer'], message: nemo, reasons: { customer: nemo }, cells: ['Nemo', '1,5', 'x'] },
  {
    ...{ line: 6, fields: ['price', 'due'], message: 'no number', cells: ['Acme', 'x', true] },
    reasons: { price: 'no number', due: 'due is required' },
  },
]
const state = () => wrongLinesOf(problems, columns)
const lineOf = ({ lines }: WrongLines, line: number): WrongLine => {
  const found = lines.find((one) => one.line === line)
  if (!found) throw new Error(`no line ${line}`)
  return found
}

describe('what an import has brought', () => {
  const begun = () => ({
    ...state(),
    ...{ isPending: true, imported: 0, undo: ['first'], refused: 0, refusedLines: undefined },
  })
  const numbers = ({ lines }: WrongLines) => lines.map(({ line }) => line)

  test('comes to what is there by then: what was mended meanwhile stays', () => {
    const sent = mendedText(withCell(begun(), 4, 0, 'Acme'))
    const now = { ...begun(), ...withCell(withCell(begun(), 4, 0, 'Acme'), 9, 0, 'Typed since') }
    const after = withLines(now, sent, { imported: 1, undo: 'second' })
    expect([numbers(after), after.imported, after.undo]).toEqual([[6, 9], 1, ['first', 'second']])
    expect(cellText(lineOf(after, 9), 0)).toBe('Typed since')
  })

  test('is in numbers of lines alone where it was done before', () => {
    const again = { imported: 5, refused: 2, problems: [], refused_lines: '3-4, 9' }
    const after = withReply(begun(), again)
    expect([numbers(after), after.imported, after.isPending]).toEqual([[4, 9], 5, false])
    expect(numbers(withReply(begun(), { ...again, refused_lines: '3, …' }))).toEqual([4, 6, 9])
    const mended = withCell(withCell(withCell(begun(), 4, 0, 'a'), 6, 1, '1'), 9, 0, 'b')
    const lines = withLines({ ...begun(), ...mended }, mendedText(mended), {
      ...{ imported: 2, refused: 1, problems: [], refused_lines: '3' },
    })
    expect(numbers(lines)).toEqual([6])
  })
})

test('what the server lists is read, whatever else it holds', () => {
  expect(problemsIn(problems)).toEqual(problems)
  expect(problemsIn(undefined)).toEqual([])
  expect(problemsIn([1, { line: '3', fields: 'x', message: 'no', cells: [null, 1] }])).toEqual([
    { line: 3, fields: [], message: 'no', cells: [1] },
  ])
})

test('lines are in the order of the file, with the place of each wrong cell', () => {
  expect(state().lines.map(({ line }) => line)).toEqual([4, 6, 9])
  expect(viewOf(state(), lineOf(state(), 6))).toEqual({
    wrong: [{ at: 1, column: 'Price', field: 'price', reason: 'no number' }],
    others: ['due is required'],
  })
})

test('a column of a name behind a reference is that of the reference', () => {
  const named = wrongLinesOf(problems, [{ column: 'Who', field: 'customer.name' }])
  expect(viewOf(named, lineOf(named, 4)).wrong).toMatchObject([{ at: 0, field: 'customer' }])
})

test('a line without its cells, and one of NDJSON, are shown by their message', () => {
  const long = wrongLinesOf([{ line: 1, fields: ['a'], message: 'too long' }], columns)
  expect(viewOf(long, lineOf(long, 1))).toEqual({ wrong: [], others: ['too long'] })
  const json = wrongLinesOf([{ line: 1, fields: [], message: 'no JSON', cells: ['{'] }], [])
  expect(viewOf(json, lineOf(json, 1)).wrong).toEqual([{ at: 0, column: '', field: '', reason: 'no JSON' }])
})

describe('mending', () => {
  test('a cell is taken back by its own text', () => {
    const mended = withCell(state(), 4, 0, 'Acme')
    expect(lineOf(mended, 4).mended).toEqual({ 0: 'Acme' })
    expect(lineOf(withCell(mended, 4, 0, 'Nemo'), 4).mended).toEqual({})
    expect(lineOf(withCell(state(), 9, 1, '7'), 9).mended).toEqual({})
  })

  test('a mended cell stays to be changed after it was found right', () => {
    const mended = withCell(state(), 6, 0, 'Other')
    expect(viewOf(mended, lineOf(mended, 6)).wrong.map(({ at }) => at)).toEqual([0, 1])
  })

  test('is done in all lines that have the same wrong text', () => {
    const mended = withCell(state(), 4, 0, 'Acme')
    expect(alikeLines(mended, lineOf(mended, 4), 0)).toEqual([9])
    const all = withAlike(mended, lineOf(mended, 4), 0)
    expect(all.lines.map((line) => cellText(line, 0))).toEqual(['Acme', 'Acme', 'Acme'])
    expect(lineOf(all, 6).mended).toEqual({})
    expect(alikeLines(all, lineOf(all, 4), 0)).toEqual([])
  })

  test('sends the mended lines alone, with numbers as they were', () => {
    const mended = withCell(withCell(state(), 9, 0, 'Acme'), 4, 1, '2,5')
    expect(mendedText(mended)).toEqual({
      text: '["Customer","Price","Note"]\n["Nemo","2,5","x"]\n["Acme",7,""]',
      lines: [4, 9],
    })
    expect(mendedText(state())).toEqual({ text: '["Customer","Price","Note"]', lines: [] })
  })

  test('fills a cell that the line did not reach to', () => {
    const short = wrongLinesOf(
      [{ line: 2, fields: [], message: '', reasons: { due: 'x' }, cells: ['a'] }],
      columns,
    )
    expect(mendedText(withCell(short, 2, 2, 'z')).text).toBe('["Customer","Price","Note"]\n["a","","z"]')
  })

  test('lines that are stored go, and the others say what is wrong now', () => {
    const mended = withCell(withCell(state(), 9, 0, 'Acme'), 4, 0, 'Dodo')
    const dodo = { line: 2, fields: ['customer'], message: 'no Dodo', reasons: { customer: 'no Dodo' } }
    const after = afterSent(mended, mendedText(mended), [dodo])
    expect(after.lines.map(({ line, message }) => [line, message])).toEqual([
      [4, 'no Dodo'],
      [6, 'no number'],
    ])
    expect(lineOf(after, 4).mended).toEqual({ 0: 'Dodo' })
  })

  test('gives lines and columns alone, whatever else is kept with them', () => {
    const kept = { ...state(), imported: 481 }
    const mended = withCell(kept, 4, 0, 'Acme')
    for (const lines of [
      mended,
      withAlike(kept, lineOf(kept, 4), 0),
      afterSent(kept, mendedText(mended), []),
    ])
      expect(Object.keys(lines)).toEqual(['columns', 'lines'])
  })

  test('of lines of NDJSON counts from their first', () => {
    const json = wrongLinesOf(
      [
        { line: 3, fields: [], message: 'no', cells: ['{'] },
        { line: 5, fields: [], message: 'no', cells: ['['] },
      ],
      [],
    )
    const mended = withCell(withCell(json, 3, 0, '{"a":\n1}'), 5, 0, '{}')
    const sent = mendedText(mended)
    expect(sent).toEqual({ text: '{"a": 1}\n{}', lines: [3, 5] })
    expect(afterSent(mended, sent, [{ line: 2, fields: [], message: 'empty' }]).lines).toMatchObject([
      { line: 5, message: 'empty' },
    ])
  })

  test('stays when the file is imported and refuses the same lines', () => {
    const mended = withCell(state(), 4, 0, 'Acme')
    const again = wrongLinesOf(problems.slice(0, 2), columns, mended.lines)
    expect(again.lines.map(({ line, mended: typed }) => [line, typed])).toEqual([
      [4, { 0: 'Acme' }],
      [9, {}],
    ])
  })
})

describe('the file of wrong lines', () => {
  test('has their cells, numbers and reasons in columns that an import leaves out', () => {
    const mended = withCell(state(), 4, 2, '=1+1')
    const { ending, text } = reasonsFile(mended)
    expect([ending, text.split('\r\n')]).toEqual([
      'csv',
      [
        '\ufeffCustomer,Price,Note,_meta.line,_meta.reasons',
        `Nemo,"1,5",'=1+1,4,${nemo}`,
        'Acme,x,true,6,no number due is required',
        `Nemo,7,,9,${nemo}`,
        '',
      ],
    ])
  })

  test('keeps the mark of a text', () => {
    const marked = wrongLinesOf([{ line: 2, fields: [], message: 'no', cells: ["'=1", "' ", 'ok'] }], columns)
    expect(reasonsFile(marked).text.split('\r\n')[1]).toBe("'=1,' ,ok,2,no")
  })

  test('of NDJSON has them in _meta, and a line that is no JSON as it is', () => {
    const json = wrongLinesOf(
      [
        { line: 1, fields: ['a'], message: 'a is wrong', cells: ['{"a":1,"_meta":{"guid":"g"}}'] },
        { line: 2, fields: [], message: 'no JSON', cells: ['{'] },
      ],
      [],
    )
    expect(reasonsFile(json)).toEqual({
      ending: 'ndjson',
      text: '{"a":1,"_meta":{"guid":"g","line":1,"reasons":"a is wrong"}}\n{\n',
    })
  })
})
