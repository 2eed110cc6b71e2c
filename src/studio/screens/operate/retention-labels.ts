import { useQuery } from '@tanstack/react-query'
import { settingsQuery } from '../../api/operate.ts'
import { operateTexts } from '../../texts/operate.ts'

const words = {
  QUOIN_KEEP_LOGS: operateTexts.forDays,
  QUOIN_KEEP_RUNS: operateTexts.forHours,
} as const

/** For how long something is kept, as the setting says now; its name for users who may not see settings. */
export function useRetention(setting: keyof typeof words): string {
  const { data } = useQuery({ ...settingsQuery, retry: false })
  const value = data?.find(({ name }) => name === setting)?.value
  return typeof value === 'string' ? words[setting](value) : operateTexts.asLongAs(setting)
}
