import { Badge, Stack, Text } from '@mantine/core'
import { useMemo } from 'react'
import { barTexts } from '../../texts/bar.ts'
import type { Catalogue } from '../model/block-description.ts'
import type { Flow } from '../model/flow.ts'
import { entrancesOf } from '../model/words/open-to.ts'
import classes from './flow-diff-view.module.css'

interface EntranceListProps {
  readonly flow: Flow
  readonly catalogue: Catalogue
}

/** Who may call each endpoint and open each page once the flow is deployed, also where nothing changes. */
export function EntranceList({ flow, catalogue }: EntranceListProps) {
  const entrances = useMemo(() => entrancesOf(flow, catalogue), [flow, catalogue])
  if (entrances.length === 0) return null
  return (
    <Stack gap={4}>
      <Text size="sm" fw={600} id="entrances">
        {barTexts.whoMayOpenIt}
      </Text>
      <table className={classes.lines} aria-labelledby="entrances">
        <tbody>
          {entrances.map(({ block, name, openTo, isPublic }) => (
            <tr key={block}>
              <th scope="row">{name}</th>
              <td>
                {openTo}
                {isPublic ? (
                  <Badge size="xs" color="sand" ml={8}>
                    {barTexts.noSignIn}
                  </Badge>
                ) : null}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Stack>
  )
}
