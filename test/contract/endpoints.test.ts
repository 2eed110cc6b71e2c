import { proveRows } from './prove-rows.ts'

await proveRows('endpoints')
