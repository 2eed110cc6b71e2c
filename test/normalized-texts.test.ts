import { globSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '..')

/** `normalize` itself takes the square of the marks in a row. In a browser it is a text of the person who reads it. */
test('all texts are normalized by normalizedText', async () => {
  const files = globSync('src/**/*.ts', { cwd: root, exclude: ['**/node_modules', 'src/studio/**'] })
  const own: string[] = []
  for (const file of files.filter((name) => !name.endsWith('.test.ts')))
    if (/\.normalize\(/.test(await readFile(join(root, file), 'utf8'))) own.push(file)
  expect(own).toEqual(['src/shared/texts/normalized-text.ts'])
})
