/**
 * Who may read and write the documents of a storage through its pages and its API. Groups are given two scopes that are named after
 * the storage, `contracts_read` and `contracts_write`: every page and endpoint of it asks for the same two, so that the groups
 * can change later without touching a block. Those who write also read.
 */
import { managementScopes, meaningOfScope } from '../../../../shared/management-scopes.ts'

export type Who = 'public' | 'loggedin' | 'groups'

export interface Access {
  readonly readers: Who
  /** Guids. */
  readonly readerGroups: readonly string[]
  readonly writers: Who
  readonly writerGroups: readonly string[]
}

/** As the pages and APIs that were made before groups could be chosen. */
export const usualAccess: Access = {
  ...{ readers: 'loggedin', readerGroups: [], writers: 'loggedin', writerGroups: [] },
}

export interface Scopes {
  readonly read: readonly string[]
  readonly write: readonly string[]
}

/** A scope has at most 64 characters, and a storage 63. */
const LONGEST = 64

export function scopeNames(storage: string): { readonly read: string; readonly write: string } {
  const name = (verb: string) => `${storage.slice(0, LONGEST - verb.length - 1)}_${verb}`
  const isTaken = (scope: string) => managementScopes.includes(scope) || meaningOfScope(scope) !== undefined
  const [read, write] = [name('read'), name('write')]
  return isTaken(read) || isTaken(write)
    ? { read: name('documents_read'), write: name('documents_write') }
    : { read, write }
}

/** What triggers ask for; any one of several is enough. */
export function scopesOf(storage: string, { readers, writers }: Access): Scopes {
  const { read, write } = scopeNames(storage)
  return {
    read: readers === 'groups' ? [read, write] : [`*${readers}`],
    write: writers === 'groups' ? [write] : [`*${writers}`],
  }
}

/** Access with the readers changed: where they are groups, no others write. */
export function withReaders(access: Access, readers: Who): Access {
  if (readers !== 'groups' || access.writers === 'groups') return { ...access, readers }
  return { ...access, readers, writers: 'groups', writerGroups: access.readerGroups }
}

export function withReaderGroups(access: Access, readerGroups: readonly string[]): Access {
  const isSame = access.writerGroups.join() === access.readerGroups.join()
  return {
    ...access,
    readerGroups,
    ...(isSame && access.writers === 'groups' && { writerGroups: readerGroups }),
  }
}

/** A mistake in words that finish nothing; undefined where there is none. */
export function accessProblem({
  readers,
  writers,
  readerGroups,
  writerGroups,
}: Access): 'readers' | 'writers' | undefined {
  if (writers === 'groups' && writerGroups.length === 0) return 'writers'
  if (readers !== 'groups') return undefined
  if (writers !== 'groups') return 'writers'
  return readerGroups.length + writerGroups.length === 0 ? 'readers' : undefined
}

interface GroupScopes {
  readonly guid: string
  readonly scopes: readonly string[]
}

/** The groups whose scopes change. A scope that the access does not use stays where it is. */
export function grantsFor(
  storage: string,
  access: Access,
  groups: readonly GroupScopes[],
): readonly GroupScopes[] {
  const { read, write } = scopeNames(storage)
  const requested = new Map<string, readonly string[]>()
  if (access.readers === 'groups') requested.set(read, access.readerGroups)
  if (access.writers === 'groups') requested.set(write, access.writerGroups)
  return groups.flatMap(({ guid, scopes }) => {
    const left = scopes.filter((scope) => requested.get(scope)?.includes(guid) ?? true)
    const added = [...requested].flatMap(([scope, holders]) =>
      holders.includes(guid) && !scopes.includes(scope) ? [scope] : [],
    )
    return left.length === scopes.length && added.length === 0 ? [] : [{ guid, scopes: [...left, ...added] }]
  })
}

/** Access in which nothing was chosen yet begins with the groups that hold the scopes already. */
export function withHolders(
  storage: string,
  access: Access | undefined,
  groups: readonly { readonly _meta: { readonly guid: string }; readonly scopes: readonly string[] }[],
): Access {
  if (access !== undefined) return access
  const { read, write } = scopeNames(storage)
  const holders = (scope: string) =>
    groups.filter(({ scopes }) => scopes.includes(scope)).map(({ _meta }) => _meta.guid)
  return { ...usualAccess, readerGroups: holders(read), writerGroups: holders(write) }
}

/** What the triggers ask for now, by the groups that hold it. Undefined where they do not agree. */
export function accessOf(
  storage: string,
  asked: { readonly read: readonly (readonly string[])[]; readonly write: readonly (readonly string[])[] },
  groups: readonly GroupScopes[],
): Access {
  const { read, write } = scopeNames(storage)
  const holders = (scope: string) =>
    groups.filter(({ scopes }) => scopes.includes(scope)).map(({ guid }) => guid)
  return {
    readers: whoOf(asked.read),
    readerGroups: holders(read),
    writers: whoOf(asked.write),
    writerGroups: holders(write),
  }
}

/** The narrowest of them: what is saved makes none wider that was not looked at. */
function whoOf(all: readonly (readonly string[])[]): Who {
  const kinds = all.map((scopes): Who => {
    if (scopes.length === 0 || scopes.includes('*public')) return 'public'
    return scopes.includes('*loggedin') ? 'loggedin' : 'groups'
  })
  if (kinds.includes('groups')) return 'groups'
  return kinds.every((kind) => kind === 'public') && kinds.length > 0 ? 'public' : 'loggedin'
}

const width: Readonly<Record<Who, number>> = { public: 2, loggedin: 1, groups: 0 }

/** Whether fewer or more may enter with the scopes after than with those before. */
export function changeOf(
  before: readonly string[],
  after: readonly string[],
): 'same' | 'narrower' | 'wider' | 'other' {
  const names = (scopes: readonly string[]) => [...scopes].toSorted().join()
  if (names(before) === names(after)) return 'same'
  const [from, to] = [whoOf([before]), whoOf([after])]
  if (from !== to) return width[to] < width[from] ? 'narrower' : 'wider'
  if (from !== 'groups') return 'same'
  if (after.every((scope) => before.includes(scope))) return 'narrower'
  return before.every((scope) => after.includes(scope)) ? 'wider' : 'other'
}
