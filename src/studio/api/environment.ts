import type { EnvironmentValue } from '../../shared/api/operate/settings.ts'
import { MAX_ENVIRONMENT_VALUES } from '../../shared/names/stored-names.ts'
import { namedRecords } from './named-records.ts'

export const environmentValues = namedRecords<EnvironmentValue>(
  '/_system/environment',
  'environment',
  MAX_ENVIRONMENT_VALUES,
)
