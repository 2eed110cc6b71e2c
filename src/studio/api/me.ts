import { queryOptions } from '@tanstack/react-query'
import type { User } from '../../shared/api/people/users.ts'
import { call } from './request.ts'

/** Who is signed in. */
export const meQuery = queryOptions({
  queryKey: ['me'],
  queryFn: ({ signal }) => call<User>('GET', '/users/me', { signal }),
  staleTime: 60_000,
})
