import { QueryClient } from '@tanstack/react-query'
import { ApiError } from './api-error.ts'

/** Reads are tried again only when trying can help; writes never, since the first one may have been done. */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      // So short that a screen which is opened again shows what others changed meanwhile; parts of one screen share one read.
      staleTime: 1_000,
      retry: (failures, error) => failures < 2 && mayPass(error),
      refetchOnWindowFocus: true,
    },
    mutations: { retry: false },
  },
})

function mayPass(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 0 || error.status === 503 || error.status === 429)
}
