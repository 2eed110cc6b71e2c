/** What the pages of docs/ are put together from: text of ours must not turn into markup. */
import { expect, test } from 'vitest'
import { code, fenced, prose, table } from '../scripts/markdown.ts'

test.each([
  ['begin*, -without, either | or', 'begin\\*, -without, either | or'],
  ['a–z, 0–9, _ and -', 'a–z, 0–9, \\_ and -'],
  ['_meta.created and dedupe_key', '\\_meta.created and dedupe_key'],
  ['files/{path...} and <script>', 'files/{path...} and \\<script\\>'],
  ['[a](b) and word~1', '\\[a\\](b) and word\\~1'],
  ['see `_meta` and `<b>*`', 'see `_meta` and `<b>*`'],
  ['one ` alone *', 'one \\` alone \\*'],
  ['back\\slash', 'back\\\\slash'],
])('prose %s', (text, markdown) => {
  expect(prose(text)).toBe(markdown)
})

test('a cell stays a cell', () => {
  expect(
    table(
      '',
      ['A', 'B'],
      [
        ['`this | that`', 'two\nlines'],
        [prose('a | b'), ''],
      ],
    ),
  ).toBe('| A | B |\n| --- | --- |\n| `this \\| that` | two lines |\n| a \\| b |  |\n')
  expect(table('Empty', ['A'], [])).toBe('')
})

test('no fence is closed by what it holds', () => {
  expect(fenced('json', '{}')).toBe('```json\n{}\n```\n')
  expect(fenced('text', '````')).toBe('`````text\n````\n`````\n')
  expect(code('a`b')).toBe('`` a`b ``')
})
