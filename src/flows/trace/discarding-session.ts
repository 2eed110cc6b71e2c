/**
 * A session whose writes only itself can see: its commits do nothing, and the replay that opened it rolls it back at the
 * end. Jobs, events and history are in the same transaction and are undone with it.
 *
 * Once it has written it holds the same locks as any other session with writes (`database.ts`): on SQLite the one writer.
 */
import { TransparentSession } from '../../storage/wrapped-session.ts'

export class DiscardingSession extends TransparentSession {
  override commit(): undefined {
    return undefined
  }
}
