/**
 * What others rely on, a line each: API paths with their parameters and fields, blocks with pins and settings, functions of
 * expressions, commands with their flags, variables of the environment, codes of errors. `test/public-surface.txt` is how it was
 * last agreed to: `npm run surface` writes it, and a test fails when it differs.
 */
import { writeFile } from 'node:fs/promises'
import { describeBlock } from '../src/blocks/describe-block.ts'
import { findBlocks } from '../src/blocks/load-blocks.ts'
import type { Command } from '../src/cli/command.ts'
import { commands } from '../src/cli/commands.ts'
import { declaredFunctions } from '../src/expressions/language/declared/functions.ts'
import type { ApiContent, ApiDocument, ApiOperation } from '../src/http/docs/open-api-document.ts'
import { fieldRows } from '../src/http/docs/schema-table.ts'
import type { Option } from '../src/options/option-kinds.ts'
import { optionTable } from '../src/options/options.ts'
import { errorTable } from '../src/shared/errors.ts'
import { apiDocument } from './api-document.ts'

const file = new URL('../test/public-surface.txt', import.meta.url)

/** Sorted lines. A line that is gone, or has one more `required`, breaks what others have built. */
export async function publicSurface(): Promise<string> {
  const lines = [
    ...apiLines(await apiDocument()),
    ...(await blockLines()),
    ...[...declaredFunctions().keys()].map((name) => `function ${name}`),
    ...commands.flatMap(commandLines),
    ...Object.values<Option<unknown>>(optionTable).map(({ variable }) => `environment ${variable}`),
    ...Object.entries(errorTable).map(([code, { status }]) => `error ${code} ${status}`),
  ]
  return `${[...new Set(lines)].sort().join('\n')}\n`
}

function apiLines(document: ApiDocument): string[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).flatMap(([method, operation]) => {
      const address = `api ${method.toUpperCase()} ${path}`
      return [address, ...partsOf(operation, document).map((part) => `${address} ${part}`)]
    }),
  )
}

/** What may be sent, and what comes back when it went well. */
function partsOf({ parameters = [], requestBody, responses }: ApiOperation, document: ApiDocument): string[] {
  const good = Object.entries(responses).filter(([status]) => /^[23]/.test(status))
  return [
    ...parameters.map(({ in: place, name, required }) => `${place} ${name}${must(required)}`),
    ...fieldsOf(requestBody?.content, document, true).map((field) => `body ${field}`),
    ...good.flatMap(([status, { content }]) =>
      fieldsOf(content, document, false).map((field) => `reply ${status} ${field}`),
    ),
  ]
}

/** What a client must send may not become more; of what comes back the outer fields are enough to see that one is gone. */
function fieldsOf(content: ApiContent | undefined, document: ApiDocument, isSent: boolean): string[] {
  const rows = Object.values(content ?? {}).flatMap(({ schema }) => fieldRows(schema ?? {}, document))
  return rows
    .filter(({ name }) => (isSent ? !name.includes('_meta.') : !name.includes('.')))
    .map(({ name, required }) => `${name}${must(isSent && required)}`)
}

async function blockLines(): Promise<string[]> {
  const blocks = (await findBlocks()).map(({ definition, group }) => describeBlock(definition, group))
  return blocks.flatMap((block) => {
    const name = `block ${block.identifier}`
    const requested = ([key, { required }]: [string, { readonly required?: boolean }]) =>
      `${key}${must(required)}`
    return [
      name,
      ...block.aliases.map((alias) => `${name} alias ${alias}`),
      ...Object.entries(block.in).map((pin) => `${name} in ${requested(pin)}`),
      ...Object.keys(block.out).map((pin) => `${name} out ${pin}`),
      ...Object.entries(block.settings).map((setting) => `${name} setting ${requested(setting)}`),
    ]
  })
}

function commandLines({ name, operands, flags }: Command): string[] {
  const written = `command ${name}`
  return [
    [written, ...operands.map((operand) => (operand.optional ? `[${operand.name}]` : operand.name))].join(
      ' ',
    ),
    ...Object.keys(flags).map((flag) => `${written} --${flag}`),
  ]
}

function must(required: boolean | undefined): string {
  return required ? ' required' : ''
}

if (import.meta.main) await writeFile(file, await publicSurface())
