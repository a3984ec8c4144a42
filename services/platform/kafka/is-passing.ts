/** Whether Kafka says of an error that it goes by itself: a leader is being chosen, a coordinator still reads its log. */
export const isPassing = (error: unknown): boolean => (error as { retriable?: boolean }).retriable === true
