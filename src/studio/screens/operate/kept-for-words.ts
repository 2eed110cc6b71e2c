import { useQuery } from '@tanstack/react-query'
import { settingsQuery } from '../../api/settings.ts'
import { operateTexts } from '../../texts/operate.ts'

/** For how long logs are kept, as the setting says now; its name for users who may not see settings. */
export function useKeptForWords(): string {
  const { data } = useQuery({ ...settingsQuery, retry: false })
  const days = data?.find(({ name }) => name === 'QUOIN_KEEP_LOGS')?.value
  return typeof days === 'string' ? operateTexts.keptForDays(days) : operateTexts.keptForSetting
}
