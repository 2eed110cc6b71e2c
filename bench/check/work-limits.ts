/**
 * The most that a request may do. Kept in the repository, so that a commit shows when one is raised; a change that makes a
 * request do less lowers it.
 */

/** Of one request, or of what the row says. `blocks` counts value blocks too. */
export interface Work {
  readonly statements: number
  readonly parses: number
  readonly blocks: number
  readonly commits: number
  readonly records: number
}

export type Measure = keyof Work

/** By the row's id. What a row does not name is not limited. */
export type WorkLimits = Readonly<Record<string, Partial<Work>>>

export const workLimits: WorkLimits = {
  constant: { statements: 0, parses: 0, blocks: 0, commits: 0 },
  read: { statements: 1, parses: 0, blocks: 3, commits: 0 },
  // What was written was looked at right after its commit: it could not be on the page that is kept.
  'list-after-write': { statements: 0, parses: 0, blocks: 0, commits: 0 },
  'list-unchanged': { statements: 0, parses: 0, blocks: 0, commits: 0 },
  create: { statements: 5, parses: 1, blocks: 7, commits: 1 },
  update: { statements: 6, parses: 3, blocks: 8, commits: 1 },
  increment: { statements: 6, parses: 2, blocks: 3, commits: 1 },
  group: { commits: 1 },
  'user-log': { records: 1 },
}
