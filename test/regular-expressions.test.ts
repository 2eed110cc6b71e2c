/**
 * A regular expression of our own takes a time that grows with the text, and not with its square: of a body of one megabyte that is
 * minutes in which no one is served. In a browser it is a text of the person who reads it.
 */
import { globSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { regularExpressions } from './regular-expressions.ts'

const root = join(import.meta.dirname, '..')

/** What the checker cannot tell, or need not know, and why it is fine. */
const known: Readonly<Record<string, string>> = {
  // It does not read what must stand before or behind. A run of one character is looked at from its first one only.
  '/(?<!=)=+$/': 'from the first',
  '/^[^\\p{L}]+|(?<![^\\p{L}])[^\\p{L}]+$/gu': 'from the first',
  '/(?<!\\/)\\/+$/': 'from the first',
  '/^_+|(?<!_)_+$/g': 'from the first',
  '/(?<!_)_+$/': 'from the first',
  '/(?<!\\d)\\d+$/': 'from the first',
  '/(?<![\\w-])([\\w-]+)~\\w+/g': 'from the first',
  '/^\\/(?![/\\\\])[\\x21-\\x7e]*$/': 'one way through',
  '/^(text\\/(?!html|event-stream)|application\\/([\\w.+-]*\\+)?(json|xml|javascript)\\b|image\\/svg)/':
    'one way back through a run',
  '/^(?:image\\/(?!svg)[a-z0-9.+-]+|audio\\/[a-z0-9.+-]+|video\\/[a-z0-9.+-]+|font\\/[a-z0-9.+-]+|text\\/(?:plain|css|csv)|application\\/json)$/':
    'one way through',
  // It does not read what is repeated, or sets of sets: each character is of one alternative.
  "/'((?:[^']|'')+)'|''|([A-Za-z])\\2*|[^A-Za-z']+/y": 'a pattern of a date, which builders write out',
  '/[\\p{sc=Han}\\p{sc=Hira}\\p{sc=Kana}\\p{sc=Bopo}\\p{sc=Thai}\\p{sc=Laoo}\\p{sc=Khmr}\\p{sc=Mymr}]\\p{M}*|[[\\p{L}\\p{N}\\p{M}]--[\\p{sc=Han}\\p{sc=Hira}\\p{sc=Kana}\\p{sc=Bopo}\\p{sc=Thai}\\p{sc=Laoo}\\p{sc=Khmr}\\p{sc=Mymr}]]+/gv':
    'runs that always match',
  '/[[[\\p{Mn}&&\\p{sc=Zinh}]--[\\u3099\\u309a]][[\\p{Mn}&&\\p{sc=Hebr}]][[\\p{Mn}&&\\p{sc=Arab}]][\\p{Cf}--[\\u200b]]]/gv':
    'one character',
  '/[[\\p{Mn}&&\\p{sc=Zinh}]--[\\u3099\\u309a]]/gv': 'one character',
  '/[[\\p{M}\\u0e33\\u0eb3\\uff9e\\uff9f]--\\u034f]{30}(?!\\u034f)/gv': 'thirty characters',
  '/[[\\p{M}\\u0e33\\u0eb3\\uff9e\\uff9f]--\\u034f]{31}/v': 'thirty-one characters',
  // It takes long for the bound of 64. The ends of the parts are each looked at once.
  '/^[^\\s@]{1,64}@[^\\s@]+\\.[^\\s@.]+$/': 'parts without what ends them',
  // Texts that are none of a client's.
  '/^bearer\\s+(.*)$/i': 'a header, which holds no end of line',
  '/\\/\\*[\\s\\S]*?\\*\\//g': 'our own style sheet',
}

/** In this process, where others would begin a program of their own for each. */
async function openChecker() {
  vi.stubEnv('RECHECK_BACKEND', 'pure')
  const { checkSync } = await import('recheck')
  vi.unstubAllEnvs()
  return ({ source, flags }: { readonly source: string; readonly flags: string }) =>
    checkSync(source, flags, { checker: 'automaton', timeout: 60_000 }).status
}

test('none takes longer than its text is', { timeout: 180_000 }, async () => {
  const check = await openChecker()
  const files = globSync('src/**/*.ts', { cwd: root, exclude: ['**/node_modules', 'src/studio/**'] })
  const unknown = new Set(Object.keys(known))
  const checked = new Set<string>()
  const slow: string[] = []
  for (const file of files.filter((name) => !name.endsWith('.test.ts')))
    for (const expression of regularExpressions(file, await readFile(join(root, file), 'utf8'))) {
      const text = `/${expression.source}/${expression.flags}`
      unknown.delete(text)
      if (known[text] !== undefined || checked.has(text)) continue
      checked.add(text)
      const status = check(expression)
      if (status !== 'safe') slow.push(`${file}: ${text} is ${status}`)
    }
  expect(checked.size).toBeGreaterThan(200)
  expect(slow).toEqual([])
  expect([...unknown], 'These are gone: delete their lines.').toEqual([])
})

test.each([
  ['a time', '\\d{2}:\\d{2}.*(?:[Zz]|[+-]\\d{2}:\\d{2})$'],
  ['a number', '^[+-]?(?:\\d+\\.?\\d*|\\.\\d+)$'],
  ['a run at the end', '_+$'],
  ['braces', '\\{([^}]+)\\}'],
])('the checker finds what was slow: %s', async (_, source) => {
  const check = await openChecker()
  expect(check({ source, flags: '' })).toBe('vulnerable')
})
