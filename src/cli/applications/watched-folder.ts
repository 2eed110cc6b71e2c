/**
 * A folder and an application of a cluster that are kept the same in both directions, file by file. The base is what both had last.
 *
 * - A file that differs from the base in the folder alone is pushed, with all others as one release.
 * - One that differs in the cluster alone, because the studio changed it, is written into the folder.
 * - One that differs in both is a conflict: the folder keeps its own, the other is written below `.quoin/studio`, and nothing is pushed
 *   until the file of the folder is saved again.
 *
 * The extensions beside it are no part of the application: where one changes, the folder is checked again and its tests run with it.
 */
import { glob, stat } from 'node:fs/promises'
import { join, sep } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { readFolder, writeFiles } from '../../applications/read-folder.ts'
import { type Application, normalApplication } from '../../shared/application/application.ts'
import {
  applicationChanges,
  changeText,
  releasedOnly,
  withConversionsOf,
  withoutUnplaced,
} from '../../shared/application/application-changes.ts'
import { type Files, filesOf } from '../../shared/application/application-files.ts'
import { isJsonObject, type JsonObject, memberOf } from '../../shared/json.ts'
import type { Terminal } from '../command.ts'
import type { Management } from '../management.ts'
import { runTests } from '../scenarios/run-tests.ts'
import { checkFolder, problemText } from './check-folder.ts'
import { contentOf, lastContent, pushed } from './run-release.ts'

/** An editor may be in the middle of writing: a file with a problem is read again after this. */
const SETTLE_MS = 150
const noFiles: Files = new Map()
/** Of all extensions together: far more than may be switched on. */
const MOST_EXTENSION_FILES = 5_000

export class WatchedFolder {
  readonly #folder: string
  readonly #management: Management
  readonly #terminal: Terminal
  #base: Files | undefined
  /** Of the base: the words of its fields say how stored values come about, and a cluster does not keep them. */
  #storages: Application['storages'] = {}
  /** Raw files that were refused, so that each is told once. */
  #refused = ''
  /** Of the last turn that found no problem, by extension. */
  #extensions: ReadonlyMap<string, string> | undefined
  /** By path: the text of the folder when the conflict was told, and that of the cluster. */
  readonly #conflicts = new Map<
    string,
    { readonly mine: string | undefined; readonly theirs: string | undefined }
  >()

  constructor(folder: string, management: Management, terminal: Terminal) {
    this.#folder = folder
    this.#management = management
    this.#terminal = terminal
  }

  /** Brings both together once. Throws what the folder or the cluster refuses to be read with. */
  async follow(): Promise<void> {
    const sound = await this.#sound()
    if (!sound) return
    const { application, raw } = sound
    const mine = filesOf(application)
    const name = String(application.about.name)
    const content = await contentOf(this.#management, name)
    this.#base ??= await this.#released(content && name)
    const theirs = content
      ? filesOf(normalApplication(withConversionsOf(withoutUnplaced(content, application), this.#storages)))
      : this.#base
    const base = new Map(this.#base)
    const conflicts = new Set<string>()
    const pulled = new Map<string, string | undefined>()
    for (const path of changedPaths(base, theirs)) {
      const [own, other] = [mine.get(path), theirs.get(path)]
      if (own === other) put(base, path, own)
      else if (own === base.get(path)) pulled.set(path, other)
      else if (await this.#isSettled(path, own, other)) put(base, path, other)
      else conflicts.add(path)
    }
    // Also those that are over because the folder took the other version, or the studio its former one.
    for (const path of this.#conflicts.keys()) if (!conflicts.has(path)) this.#conflicts.delete(path)
    // What was saved meanwhile is not written over: the next turn sees it.
    if (pulled.size > 0 && (await this.#raw()) !== raw) return
    await writeFiles(this.#folder, pulled)
    for (const [path, text] of pulled) {
      put(base, path, text)
      this.#terminal.print(`studio: ${path} ${text === undefined ? 'removed' : 'changed'}`)
    }
    this.#base = base
    if (pulled.size > 0 || this.#conflicts.size > 0) return
    const extensions = changedPaths(this.#extensions ?? sound.extensions, sound.extensions)
    this.#extensions = sound.extensions
    for (const one of extensions)
      this.#terminal.print(
        `extensions/${one} changed. Tests run with it; the cluster goes on with its own until: quoin extension on ${one}`,
      )
    const changed = changedPaths(base, mine)
    if (changed.length > 0)
      await this.#push({ application, content }, mine, extensions.length > 0 ? [] : changed)
    else if (extensions.length > 0) await this.#test(application)
  }

  /** undefined for a folder with a problem, which is told once. */
  async #sound() {
    let raw = await this.#raw()
    if (raw === this.#refused) return undefined
    for (;;) {
      const extensions = await extensionFiles(this.#folder)
      const { application, problems } = await checkFolder(this.#folder, this.#terminal)
      if (problems.every(({ warning }) => warning)) return { application, raw, extensions }
      await wait(SETTLE_MS)
      const now = await this.#raw()
      if (now === raw) {
        this.#refused = raw
        for (const problem of problems) this.#terminal.complain(problemText(this.#folder, problem))
        return undefined
      }
      raw = now
    }
  }

  async #raw(): Promise<string> {
    const [files, extensions] = [await readFolder(this.#folder), await extensionFiles(this.#folder)]
    return JSON.stringify([[...files].sort(), [...extensions]])
  }

  /** Whether the folder has been saved since the conflict was told. */
  async #isSettled(path: string, mine: string | undefined, theirs: string | undefined): Promise<boolean> {
    const known = this.#conflicts.get(path)
    if (known && known.theirs === theirs) {
      if (known.mine === mine) return false
      this.#conflicts.delete(path)
      return true
    }
    this.#conflicts.set(path, { mine, theirs })
    const copy = `.quoin/studio/${path}`
    await writeFiles(this.#folder, new Map([[copy, theirs]]))
    const there = theirs === undefined ? 'It was removed there' : `Its version is ${copy}`
    this.#terminal.complain(
      `conflict: ${path} was changed in the studio too. ${there}. Save ${path} again to push the version of the folder.`,
    )
    return false
  }

  /** What the cluster has of `name`, or nothing. */
  async #released(name: string | undefined): Promise<Files> {
    if (name === undefined) return noFiles
    const last = await lastContent(this.#management, name)
    this.#storages = last.storages
    return filesOf(last)
  }

  /** Changes what it knows to differ, and nothing that the studio has saved since `content` was read: the next turn sees that. */
  async #push(
    {
      application,
      content,
    }: { readonly application: Application; readonly content: Application | undefined },
    files: Files,
    changed: readonly string[],
  ): Promise<void> {
    const from = performance.now()
    const only = content && [
      ...applicationChanges(content, application).map(changeText),
      ...releasedOnly(content, application),
    ]
    const flags = { yes: true, allowLoss: false, only }
    if ((await pushed(this.#management, application, flags, this.#terminal)) !== 0) {
      this.#refused = await this.#raw()
      return
    }
    this.#base = files
    this.#storages = application.storages
    this.#terminal.print(`Live after ${Math.round(performance.now() - from)} ms.`)
    const [first = ''] = changed
    const isTest = changed.length === 1 && first.endsWith('.test.json') && files.has(first)
    await this.#test(application, isTest ? first : undefined, touchedWords(application, changed))
  }

  async #test(application: Application, filter?: string, words: readonly string[] = []): Promise<void> {
    if (Object.keys(application.tests).length === 0) return
    const tests = { folder: this.#folder, filter, reporter: 'text', coverage: false, minCoverage: 0 } as const
    const raw = await this.#raw()
    const isSavedAgain = async () => (await this.#raw()) !== raw
    await runTests({ ...tests, ...(words.length > 0 && { first: { words, isSavedAgain } }) }, this.#terminal)
  }
}

/** Of addresses and names: shorter ones are in every test. */
const SHORTEST_WORD = 3

/** What tests of the changed files name: addresses, functions and storages. None where a file may change what any test finds. */
function touchedWords(application: Application, changed: readonly string[]): readonly string[] {
  const found: string[] = []
  for (const path of changed) {
    const [, folder = '', name = ''] =
      /^(blueprints|storages|tests)\/(.+?)(?:\.test)?\.(?:json|ndjson)$/.exec(path) ?? []
    const blocks = memberOf(application.blueprints, name)?.blocks
    if (folder === 'blueprints' && isJsonObject(blocks))
      for (const block of Object.values(blocks).filter(isJsonObject)) found.push(...namesOf(block))
    else if (folder === 'storages' || folder === 'tests') found.push(name)
    else return []
  }
  return [...new Set(found)].filter(({ length }) => length >= SHORTEST_WORD)
}

function namesOf({ in: pins, fields }: JsonObject): readonly string[] {
  const [uri, name] = [
    isJsonObject(pins) ? pins.uri : undefined,
    isJsonObject(fields) ? fields.name : undefined,
  ]
  // What stands before its first parameter: tests fill that in.
  return [uri, name].flatMap((one) => (typeof one === 'string' ? [one.replace(/\{.*$/s, '')] : []))
}

/** What says that a file was saved, of each extension by its name. What it has installed is left out. */
async function extensionFiles(folder: string): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>()
  const isLeftOut = (name: string) => name === 'node_modules' || name.startsWith('.')
  let left = MOST_EXTENSION_FILES
  for await (const path of glob('extensions/*/**', { cwd: folder, exclude: isLeftOut })) {
    const file = await stat(join(folder, path)).catch(() => undefined)
    if (!file?.isFile()) continue
    const [, name = ''] = path.split(sep)
    found.set(name, `${found.get(name) ?? ''}${path} ${file.size} ${file.mtimeMs}\n`)
    if (--left === 0) break
  }
  return found
}

function changedPaths(from: Files, to: Files): string[] {
  const paths = new Set([...from.keys(), ...to.keys()])
  return [...paths].filter((path) => from.get(path) !== to.get(path)).sort()
}

function put(files: Map<string, string>, path: string, text: string | undefined): void {
  if (text === undefined) files.delete(path)
  else files.set(path, text)
}
