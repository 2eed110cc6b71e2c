/**
 * A session whose writes are seen by itself and by nobody else, ever: its commits do nothing, and whoever made it rolls it
 * back at the end. Jobs, events and history stand in the same transaction and are undone with it.
 *
 * While it is open it holds what every session with writes holds (`database.ts`): on SQLite the one writer.
 */
import { TransparentSession } from '../../storage/wrapped-session.ts'

export class DiscardingSession extends TransparentSession {
  override commit(): undefined {
    return undefined
  }
}
