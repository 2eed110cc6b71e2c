import type { EnvironmentValue } from '../../shared/api/operate/environment.ts'
import { MAX_ENVIRONMENT_VALUES } from '../../shared/names/environment-name.ts'
import { namedRecords } from './named-records.ts'

export const environmentValues = namedRecords<EnvironmentValue>(
  '/_system/environment',
  'environment',
  MAX_ENVIRONMENT_VALUES,
)
