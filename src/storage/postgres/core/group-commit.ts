/**
 * Commits of several sessions in one trip and one transaction, so that PostgreSQL writes its log to disk once for all of them:
 * those that are asked for in one turn of the event loop. Of 32 clients that create at once, 10 to 30 share a trip.
 *
 * Only writes that no lock of another transaction can keep waiting take part: one that waits would keep the others waiting.
 * Where one fails, PostgreSQL undoes the whole trip, as each of its statements is done or none
 * (https://www.postgresql.org/docs/18/protocol-flow.html#PROTOCOL-FLOW-PIPELINING). Then each session sends its own, so that only
 * the one whose write fails hears of it.
 */
import { QuoinError } from '../../../shared/errors.ts'
import { Unconfirmed } from '../../unit-of-work.ts'
import type { LateAnswers } from './late-answers.ts'
import { NO_TIMEOUT } from './late-answers.ts'
import type { TakenConnection, Use } from './open-pool.ts'
import { hasAnswered, type SentPipeline, type Statement, sendPipeline } from './pipeline.ts'
import { isConnectionLost, isFarewell } from './postgres-errors.ts'

export interface GroupCommit {
  /** True when it is committed; false when nothing of it is, and it is to be sent by itself. */
  join(part: CommitPart): Promise<boolean>
}

/** What one session commits. */
export interface CommitPart {
  /** As they are by now, at least one; undefined if they may have to wait after all. */
  statements(): readonly Statement[] | undefined
  /** Called when they are sent. */
  sending(answers: Promise<unknown>): void
}

export interface GroupCommitParts {
  readonly take: (use: Use) => Promise<TakenConnection>
  readonly late: LateAnswers
  /** How long ago a connection may have answered to be taken as living. */
  readonly restMs: number
}

interface Waiting {
  readonly part: CommitPart
  readonly resolve: (isCommitted: boolean) => void
  readonly reject: (error: unknown) => void
}

/** Sessions of one trip. More gain little, and each waits for the slowest. */
const MOST = 64
/** Characters of one trip: larger documents are sent one by one, as each is held in memory once more while it is sent. */
const MOST_CHARACTERS = 1024 * 1024

export function groupCommit(parts: GroupCommitParts): GroupCommit {
  let gathered: Waiting[] = []

  function send(): void {
    const group = gathered
    gathered = []
    if (group.length > 1) void commitTogether(parts, group)
    else for (const { resolve } of group) resolve(false)
  }

  return {
    join: (part) =>
      new Promise((resolve, reject) => {
        gathered.push({ part, resolve, reject })
        if (gathered.length === 1) setImmediate(send)
        else if (gathered.length === MOST) send()
      }),
  }
}

/** Settles each of the group. */
async function commitTogether(parts: GroupCommitParts, group: readonly Waiting[]): Promise<void> {
  let sent: SentPipeline | undefined
  try {
    const taken = await parts.take('brief')
    const members = hasAnswered(taken.client, parts.restMs) ? withStatements(group) : []
    if (members.length === 0) {
      taken.release(false)
      return apart(group)
    }
    sent = sendPipeline(
      taken.client,
      members.flatMap(({ statements }) => statements),
      NO_TIMEOUT,
    )
    for (const { waiting } of members) waiting.part.sending(sent.answers)
    await parts.late.within(taken.client, sent.answers, taken.release)
    for (const { waiting } of members) waiting.resolve(true)
    apart(group)
  } catch (error) {
    if (sent !== undefined && isUndone(error, sent)) return apart(group)
    const reported = isConnectionLost(error) ? new Unconfirmed(error) : error
    for (const { reject } of group) reject(reported)
  }
}

/** Those that go together. */
function withStatements(group: readonly Waiting[]) {
  let room = MOST_CHARACTERS
  return group.flatMap((waiting) => {
    const statements = waiting.part.statements()
    if (statements === undefined) return []
    room -= sizeOf(statements)
    return room < 0 ? [] : [{ waiting, statements }]
  })
}

function sizeOf(statements: readonly Statement[]): number {
  let size = 0
  for (const { values = [] } of statements)
    for (const value of values) if (typeof value === 'string') size += value.length
  return size
}

/** Those that are not settled yet. */
function apart(group: readonly Waiting[]): void {
  for (const { resolve } of group) resolve(false)
}

/** Whether nothing of it is stored: PostgreSQL has refused a statement, or had ended the connection before it saw the first. */
function isUndone(error: unknown, { done }: SentPipeline): boolean {
  if (error instanceof QuoinError) return false
  return isConnectionLost(error) ? isFarewell(error) && done === 0 : true
}
