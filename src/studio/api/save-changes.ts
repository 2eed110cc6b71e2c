/**
 * How forms save: what differs from what they showed is sent, over what is stored at the time. Where another person has changed the same
 * meanwhile, the one who saves says what stays.
 */
import { createStore } from 'zustand/vanilla'
import { sameJson } from '../../shared/json.ts'
import { apiTexts } from '../texts/sign-in.ts'
import { call } from './request.ts'

export type Whose = 'mine' | 'theirs'

/** What two people have changed to different values. */
export interface Dispute {
  /** Dotted name of the member. */
  readonly at: string
  readonly mine: unknown
  readonly theirs: unknown
}

export interface DisputesQuestion {
  readonly disputes: readonly Dispute[]
  /** By {@link Dispute.at}; undefined: nothing is saved. */
  readonly answer: (choices: ReadonlyMap<string, Whose> | undefined) => void
}

/** Asked by a dialog of the shell (`controls/disputes-dialog.tsx`), one at a time. */
export const disputesQuestion = createStore<{ readonly open: DisputesQuestion | undefined }>(() => ({
  open: undefined,
}))

let lastAsked: Promise<unknown> = Promise.resolve()

function ask(disputes: readonly Dispute[]): Promise<ReadonlyMap<string, Whose> | undefined> {
  const asked = lastAsked.then(
    () =>
      new Promise<ReadonlyMap<string, Whose> | undefined>((resolve) => {
        const answer: DisputesQuestion['answer'] = (choices) => {
          disputesQuestion.setState({ open: undefined })
          resolve(choices)
        }
        disputesQuestion.setState({ open: { disputes, answer } })
      }),
  )
  lastAsked = asked
  return asked
}

interface Saving<T> {
  /** What is stored; without it `path` is read. */
  readonly read?: () => Promise<T>
  /** What is stored as the form has it, with the members of `sent`. */
  readonly shownOf?: (stored: T) => object
  /** What the API takes of the members that changed. */
  readonly bodyOf?: (changes: Readonly<Record<string, unknown>>) => object
  /** Where it is written, if not at `path`. */
  readonly pathOf?: (stored: T) => string
}

/**
 * Saves a form: `sent` is what it has, `shown` what it had before something was typed. Another member that someone has changed since stays as it
 * is, as do other names of a list. Without a difference nothing is sent. Throws where the person decides to save nothing.
 */
export async function saveChanges<T extends object>(
  path: string,
  sent: object,
  shown: object,
  { read = () => call<T>('GET', path), shownOf = (stored) => stored, bodyOf, pathOf }: Saving<T> = {},
): Promise<T> {
  /** A choice is about the value that was seen. */
  const choices = new Map<string, Whose>()
  const keyOf = ({ at, theirs }: Dispute) => `${at} ${JSON.stringify(theirs)}`
  for (;;) {
    const now = await read()
    const { changes, disputes } = changesOf(sent, shown, shownOf(now), (one) => choices.get(keyOf(one)))
    if (disputes.length === 0) {
      const body = bodyOf ? bodyOf(changes) : changes
      if (Object.keys(body).length === 0) return now
      return call<T>('PUT', pathOf ? pathOf(now) : path, { body })
    }
    const answers = await ask(disputes)
    if (!answers) throw new Error(apiTexts.notSavedForDispute)
    for (const one of disputes) choices.set(keyOf(one), answers.get(one.at) ?? 'theirs')
  }
}

type Choose = (dispute: Dispute) => Whose | undefined

interface Changes {
  /** Members that are not as they are stored, as they are to be. */
  readonly changes: Record<string, unknown>
  /** Without a choice yet. */
  readonly disputes: readonly Dispute[]
}

/** What of `sent` differs from `shown`, over `now`, which is stored. */
export function changesOf(
  sent: object,
  shown: object,
  now: object,
  choose: Choose = () => undefined,
): Changes {
  const disputes: Dispute[] = []
  const decide: Decide = (one) => {
    const whose = choose(one)
    if (whose === undefined) disputes.push(one)
    return whose === 'theirs' ? one.theirs : one.mine
  }
  const [before, stored] = [members(shown), members(now)]
  const changes: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(sent)) {
    if (sameJson(value, before.get(name))) continue
    const merged = mergedOf(value, before.get(name), stored.get(name), name, decide)
    if (!sameJson(merged, stored.get(name))) changes[name] = merged
  }
  return { changes, disputes }
}

type Decide = (dispute: Dispute) => unknown

function mergedOf(sent: unknown, shown: unknown, now: unknown, at: string, decide: Decide): unknown {
  if (sameJson(sent, shown)) return now
  if (sameJson(now, shown) || sameJson(now, sent)) return sent
  if (isList(sent) && isList(shown) && isList(now)) {
    const both = listOf(sent, shown, now)
    if (both) return both
  }
  if (isPlain(sent) && isPlain(shown) && isPlain(now)) {
    const [mine, before, stored] = [members(sent), members(shown), members(now)]
    const names = new Set([...stored.keys(), ...mine.keys()])
    const merged = [...names].map(
      (name) =>
        [
          name,
          mergedOf(mine.get(name), before.get(name), stored.get(name), `${at}.${name}`, decide),
        ] as const,
    )
    return Object.fromEntries(merged.filter(([, value]) => value !== undefined))
  }
  return decide({ at, mine: sent, theirs: now })
}

/**
 * Mine, with what others have added and without what they have taken. Undefined where that would not be what either of them meant: both
 * have changed the same item, or the items are no names and no objects, so that their places count.
 */
function listOf(sent: List, shown: List, now: List): List | undefined {
  const [mine, before, stored] = [sent, shown, now].map((list) => new Set(list.map(textOf)))
  if (!mine || !before || !stored) return undefined
  const all = [...sent, ...shown, ...now]
  const areNames = all.every((one) => typeof one === 'string')
  if (!areNames && !all.every(isPlain)) return undefined
  const isAdded = (one: unknown) => !before.has(textOf(one))
  const areTakenTwice = [...before].some((one) => !mine.has(one) && !stored.has(one))
  if (!areNames && areTakenTwice && sent.some(isAdded) && now.some(isAdded)) return undefined
  const others = now.filter((one) => isAdded(one) && !mine.has(textOf(one)))
  return [...sent.filter((one) => stored.has(textOf(one)) || isAdded(one)), ...others]
}

type List = readonly unknown[]

function isList(value: unknown): value is List {
  return Array.isArray(value)
}

function isPlain(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function members(of: object): ReadonlyMap<string, unknown> {
  return new Map(Object.entries(of))
}

/** The same for members in another order. */
function textOf(value: unknown): string {
  return JSON.stringify(
    isPlain(value) ? Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)) : value,
  )
}
