#!/bin/bash
# Its jar has the driver for H2 alone: the schemas are in a file of the container, whatever REGISTRY_DATASOURCE_URL says.
export REGISTRY_DATASOURCE_URL='jdbc:h2:file:/var/lib/registry/registry;WRITE_DELAY=0'
unset REGISTRY_DATASOURCE_USERNAME REGISTRY_DATASOURCE_PASSWORD
exec java -Xmx256m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Dquarkus.http.host=0.0.0.0 -jar /opt/registry/*-runner.jar
