import type { User } from '../../../shared/api/people/users.ts'

/** Too many wrong passwords, and the time of the lock is not over. */
export function isLocked({ locked_until = 0 }: User): boolean {
  return locked_until > Date.now() / 1000
}
