import { Badge, Text, Tooltip } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { infoQuery } from '../api/info.ts'
import { shellTexts } from '../texts/shell.ts'

/** Which cluster this is: users must not mistake production for another cluster. */
export function ClusterName() {
  const { data: info } = useQuery(infoQuery)
  if (!info) return null
  const nodes = shellTexts.nodeCount(info.nodes)
  return (
    <Tooltip label={shellTexts.cluster(info.version, nodes, info.flags.storage)}>
      <span style={{ display: 'inline-flex', alignItems: 'center', gap: 8, minWidth: 0 }}>
        <Text size="sm" c="dimmed" truncate visibleFrom="sm">
          {info.node}
        </Text>
        <Badge size="sm" color={info.environment === 'production' ? 'sand' : 'gray'}>
          {info.environment}
        </Badge>
      </span>
    </Tooltip>
  )
}
