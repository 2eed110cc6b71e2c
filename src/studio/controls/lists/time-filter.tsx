import { Button } from '@mantine/core'
import { controlsTexts } from '../../texts/controls.ts'
import { Icon } from '../icon.tsx'
import { useListAddress } from './list-address.ts'

/** A time that a link has narrowed the list to; pressed, the list is of all times again. */
export function TimeFilter() {
  const [, readdress, words] = useListAddress()
  const { gte, lte } = timeIn(words)
  if (gte === undefined || lte === undefined) return null
  const time = (at: number) =>
    new Date(at * 1000).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' })
  return (
    <Button
      variant="default"
      rightSection={<Icon name="close" size={12} />}
      onClick={() => readdress({ since: '', until: '' })}
      aria-label={controlsTexts.showAllTimes}
    >
      {`${time(gte)} – ${time(lte)}`}
    </Button>
  )
}

interface Times {
  readonly gte?: number
  readonly lte?: number
}

function timeIn(words: URLSearchParams): Times {
  const [gte, lte] = [Number(words.get('since') ?? ''), Number(words.get('until') ?? '')]
  return Number.isSafeInteger(gte) && Number.isSafeInteger(lte) && gte > 0 && lte > 0 ? { gte, lte } : {}
}

/** The filter of the records' creation that `since` and `until` of the address ask for. */
export function timeFilterOf(words: URLSearchParams): Readonly<Record<string, Times>> {
  const times = timeIn(words)
  return times.gte === undefined ? {} : { '_meta.created': times }
}
