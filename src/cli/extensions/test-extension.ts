import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { tryBlock } from '../../blocks/extensions/extension-block.ts'
import { loadBlocks } from '../../blocks/load-blocks.ts'
import { readExtension } from '../../records/extensions/extension-folder.ts'
import { anyJson } from '../../shared/api/record-schemas.ts'
import { type JsonObject, sameJson } from '../../shared/json.ts'
import { readJson } from '../../shared/numbers/exact-json.ts'
import { UsageError } from '../read-words.ts'

const anyObject = Type.Unsafe<JsonObject>({ type: 'object' })
const rows = Compile(
  Type.Array(
    Type.Object(
      {
        name: Type.String({ minLength: 1 }),
        inputs: Type.Optional(anyObject),
        settings: Type.Optional(anyObject),
        answers: Type.Optional(
          Type.Array(
            Type.Object(
              { ask: anyJson(), value: Type.Optional(anyJson()), problem: Type.Optional(Type.String()) },
              { additionalProperties: false },
            ),
          ),
        ),
        gives: Type.Optional(anyObject),
        fails: Type.Optional(Type.String({ minLength: 1 })),
      },
      { additionalProperties: false },
    ),
  ),
)
type Row = ReturnType<typeof rows.Parse>[number]

/** `problems`: what is wrong with the extension, and each row that failed. */
export async function testExtension(
  folder: string,
  signal: AbortSignal,
): Promise<{ readonly passed: number; readonly problems: readonly string[] }> {
  const extension = await readExtension(folder, { own: await loadBlocks(), signal })
  if (!extension) throw new UsageError(`There is no package.json with the key quoin in ${folder}.`)
  const problems = [...extension.problems]
  let passed = 0
  for (const block of extension.blocks) {
    const file = `${block.entry.replace(/\.m?js$/, '')}.test.json`
    const found = await rowsIn(join(folder, file))
    if (typeof found === 'string') {
      problems.push(`${file}: ${found}`)
      continue
    }
    for (const row of found) {
      const problem = await rowProblem(row, () => tryBlock(extension, block, row, signal))
      if (problem === undefined) passed += 1
      else problems.push(`${file}: ${row.name}: ${problem}`)
    }
  }
  return { passed, problems }
}

async function rowsIn(file: string): Promise<readonly Row[] | string> {
  const text = await readFile(file, 'utf8').catch(() => undefined)
  if (text === undefined) return 'There is no test. Add one: a list of rows.'
  const read = readJson(text)
  if ('problem' in read) return `The file ${read.problem}.`
  if (rows.Check(read.value)) return read.value
  const [first] = rows.Errors(read.value)
  return `The rows do not fit: ${first?.instancePath ?? ''} ${first?.message ?? ''}.`
}

async function rowProblem(row: Row, run: () => Promise<JsonObject>): Promise<string | undefined> {
  try {
    const gives = await run()
    if (row.fails !== undefined) return `it gives ${JSON.stringify(gives)}, and should fail`
    return sameJson(gives, row.gives ?? {}) ? undefined : `it gives ${JSON.stringify(gives)}`
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    return row.fails !== undefined && message.includes(row.fails) ? undefined : `it fails: ${message}`
  }
}
