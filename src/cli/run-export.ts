import { rename, writeFile } from 'node:fs/promises'
import Type from 'typebox'
import { Compile } from 'typebox/compile'
import { environmentNames } from '../expressions/language/environment/environment-names.ts'
import { exportBlueprint } from '../shared/application/blueprint-file.ts'
import { connectionNamesOf, secretNamesOf } from '../shared/application/names-in-pins.ts'
import { readParts } from '../shared/application/read-parts.ts'
import { type Block, BlockContent, blockContent } from '../shared/blueprint.ts'
import { blueprintNoteSchema } from '../shared/blueprint-note.ts'
import type { JsonObject } from '../shared/json.ts'
import { textsIn } from '../storage/document-fields.ts'
import type { Terminal } from './command.ts'
import { findRecord, guidOf, type Management, partsApi, recordsOf } from './management.ts'

const PAGE = 1000
/** As many blocks as a blueprint may have. */
const MAX_BLOCKS = 10_000

/** Writes the blueprint to the file, or to the standard output. */
export async function runExport(
  management: Management,
  blueprint: string,
  file: string | undefined,
  terminal: Terminal,
): Promise<number> {
  const text = await fileText(management, blueprint, terminal)
  if (file === undefined) terminal.print(text.trimEnd())
  else await replaceFile(file, text)
  return 0
}

async function fileText(management: Management, named: string, terminal: Terminal): Promise<string> {
  const record = await findRecord(management, 'blueprints', named)
  const blocks = await savedBlocks(management, guidOf(record))
  const content = {
    name: textOf(record, 'name'),
    description: textOf(record, 'description'),
    category: textOf(record, 'category'),
    tags: textsIn(record.tags),
    blocks,
    // Blueprints of former versions have none.
    notes: Compile(Type.Array(blueprintNoteSchema)).Parse(record.notes ?? []),
  }
  const { parts, hidden } = await readParts(partsApi(management, terminal).find, blocks)
  if (hidden.length > 0) terminal.complain(`Without ${hidden.join(', ')}: you may not see them.`)
  const exported = exportBlueprint(content, {
    env: environmentNames(blocks),
    secrets: secretNamesOf(blocks),
    connections: connectionNamesOf(blocks),
    parts,
  })
  return `${JSON.stringify(exported, undefined, 2)}\n`
}

/** The saved blocks in the order in which they were made. */
async function savedBlocks(management: Management, blueprint: string): Promise<Block[]> {
  const content = Compile(BlockContent)
  const blocks: Block[] = []
  for (let offset = 0; offset < MAX_BLOCKS; offset += PAGE) {
    const page = recordsOf(
      await management.call('POST', '/blueprintactions/search', {
        filters: { blueprint_guid: blueprint, is_created: true },
        sort: [{ '_meta.cms': 'asc' }],
        limit: PAGE,
        offset,
      }),
    )
    for (const record of page) {
      const fields = Object.keys(blockContent).map((name) => [name, record[name]])
      blocks.push({ guid: guidOf(record), ...content.Parse(Object.fromEntries(fields)) })
    }
    if (page.length < PAGE) break
  }
  return blocks
}

function textOf(record: JsonObject, field: string): string {
  const value = record[field]
  return typeof value === 'string' ? value : ''
}

/** Whole or not at all: a full disk must not leave half of a file that was whole before. */
async function replaceFile(path: string, text: string): Promise<void> {
  const part = `${path}.part`
  await writeFile(part, text, { flush: true })
  await rename(part, path)
}
