import { basename, join, relative } from 'node:path'
import { applicationProblems, typesIn } from '../../applications/check-application.ts'
import { readFolder } from '../../applications/read-folder.ts'
import { loadBlocks } from '../../blocks/load-blocks.ts'
import { liveBlueprints } from '../../flows/live/live-blueprints.ts'
import { reservedPageRoots, reservedRoots } from '../../http/server/reserved-roots.ts'
import { type FolderBlocks, folderBlocks } from '../../records/extensions/extension-folder.ts'
import type { Application } from '../../shared/application/application.ts'
import { applicationOf, type FileProblem, testAndCases } from '../../shared/application/application-files.ts'
import { isJsonObject } from '../../shared/json.ts'
import type { Terminal } from '../command.ts'
import { scenarioProblems } from '../scenarios/scenario-file.ts'

export interface CheckedFolder {
  readonly application: Application
  /** By file, line and column; warnings among them. */
  readonly problems: readonly FileProblem[]
}

/**
 * Everything that is wrong with every file of the folder. No server is asked and nothing is stored. Blocks may be of extensions in its
 * folder `extensions`, or else in the folder `options().blocks`.
 */
export async function checkFolder(
  folder: string,
  { options }: Pick<Terminal, 'options'>,
): Promise<CheckedFolder> {
  const files = await readFolder(folder)
  const { application, problems, placeOf } = applicationOf(files)
  const { catalogue, versions, missing } = await blocksFor(folder, application, options().blocks)
  const found = await applicationProblems(application, {
    ...{ catalogue, live: liveBlueprints(reservedRoots, reservedPageRoots) },
    extensions: {
      ...{ versions, missing },
      absence: 'is in neither of the folders extensions and QUOIN_BLOCKS',
    },
  })
  const ofTests = Object.entries(application.tests).flatMap(([object, one]) => {
    const { test } = testAndCases(one)
    const { cases } = test ?? {}
    const missing =
      typeof cases === 'string' && !files.has(`tests/${cases}`)
        ? [`cases: There is no file tests/${cases}.`]
        : []
    return [...(test ? scenarioProblems(test) : []), ...missing].map(
      (message) => ({ map: 'tests', object, path: placeIn(message), message }) as const,
    )
  })
  // Where it cannot be read, nothing is said of what it should have.
  const isAboutRead = !problems.some(({ file }) => file === 'quoin.json')
  const known = found.filter(({ map }) => map !== 'about' || isAboutRead)
  const placed = [...known, ...ofTests].map(({ map, object, path, ...problem }) => ({
    ...problem,
    ...placeOf(map, object, path.map(asIndex)),
  }))
  return { application, problems: [...problems, ...placed].toSorted(inOrder) }
}

/** With those of the extensions that it uses or needs. */
export async function blocksFor(
  folder: string,
  { about, blueprints }: Pick<Application, 'about' | 'blueprints'>,
  more: string,
): Promise<FolderBlocks> {
  const { extensions } = isJsonObject(about.needs) ? about.needs : {}
  const needed = isJsonObject(extensions) ? Object.keys(extensions).map((name) => `${name}_`) : []
  const types = new Set([...typesIn({ blueprints }), ...needed])
  return folderBlocks([join(folder, 'extensions'), more], await loadBlocks(), types)
}

/** `steps.2.status: must be …` begins with its place. */
function placeIn(message: string): readonly string[] {
  return /^[\w.]*/.exec(message)?.[0].split('.').filter(Boolean) ?? []
}

function asIndex(part: string | number): string | number {
  return /^\d+$/.test(String(part)) ? Number(part) : part
}

function inOrder(a: FileProblem, b: FileProblem): number {
  if (a.file !== b.file) return a.file < b.file ? -1 : 1
  return a.line - b.line || a.column - b.column
}

/** `crm/storages/deals.json:4:5: warning: search.limit: must be …`, as editors and build pipelines find it. */
export function problemText(
  folder: string,
  { file, line, column, block, pin, message, warning }: FileProblem,
): string {
  const path = relative('.', `${folder}/${file}`) || basename(file)
  const where = block === undefined ? '' : `${pin === undefined ? block : `${block}.${pin}`}: `
  return `${path}:${line}:${column}: ${warning ? 'warning: ' : ''}${where}${message}`
}
